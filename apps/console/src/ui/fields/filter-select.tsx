import { useTranslations } from 'use-intl'
import { SelectField } from './field.tsx'

interface FilterSelectProps {
  readonly label: string
  /** Undefined for all. */
  readonly value: string | undefined
  readonly options: readonly (readonly [value: string, label: string])[]
  onChange(value: string | undefined): void
  readonly className?: string | undefined
}

/** One of the values by which a list or a report is filtered, or all. A value that a link has brought is an option as well. */
export function FilterSelect({ label, value = '', options, onChange, className }: FilterSelectProps) {
  const t = useTranslations('common')
  const isListed = value === '' || options.some(([option]) => option === value)
  return (
    <SelectField
      label={label}
      className={className}
      value={value}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    >
      <option value="">{t('all')}</option>
      {!isListed && <option value={value}>{value}</option>}
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}
