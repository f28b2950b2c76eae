import { useTranslations } from 'use-intl'
import { SelectField } from '../ui/fields/field.tsx'
import { choosePageSize, PAGE_SIZES, usePageSize } from './page-size.ts'
import styles from './paged-list.module.css'

export function PageSizeField() {
  const t = useTranslations('lists')
  const size = usePageSize()
  return (
    <SelectField
      className={styles.size}
      label={t('pageSize')}
      value={size}
      onChange={({ target }) => choosePageSize(Number(target.value))}
    >
      {PAGE_SIZES.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </SelectField>
  )
}
