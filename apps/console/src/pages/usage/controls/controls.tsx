import { ChevronDown, SlidersHorizontal } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl'
import { ChoiceFilter } from '../../../filters/choice-filters.tsx'
import { Button } from '../../../ui/button.tsx'
import { CheckField } from '../../../ui/fields/field.tsx'
import { useUsageSearch } from '../use-usage-search.ts'
import styles from './controls.module.css'
import { GroupBy } from './group-by.tsx'
import { RangeForm } from './range-form.tsx'
import { ZoneField } from './zone-field.tsx'

/**
 * Everything that decides what the report says: in sight where there is room, and on a phone behind a button that says which range
 * is shown and how many filters are set.
 */
export function Controls() {
  const t = useTranslations('usage')
  const filters = useTranslations('filters')
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const { search, change } = useUsageSearch()
  const { range, agent, key, user, group, compare = false } = search
  const count = [agent, key, user, group, compare].filter(Boolean).length
  return (
    <div className={styles.folded} data-open={isOpen || undefined}>
      <Button
        className={styles.fold}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <SlidersHorizontal aria-hidden />
        <span>
          {t(`ranges.${range ?? 'custom'}`)} ·{' '}
          {count === 0 ? filters('filters') : filters('filtersSet', { count })}
        </span>
        <ChevronDown aria-hidden />
      </Button>
      <div id={id} className={styles.controls}>
        <RangeForm />
        <div className={styles.fields}>
          <GroupBy />
          {(['agent', 'key', 'user'] as const).map((kind) => (
            <ChoiceFilter
              key={kind}
              kind={kind}
              value={search[kind]}
              onChange={(value) => change({ [kind]: value })}
            />
          ))}
          <ZoneField />
          <CheckField
            label={t('compare')}
            checked={compare}
            onChange={({ target }) => change({ compare: target.checked || undefined })}
          />
        </div>
      </div>
    </div>
  )
}
