import { useTranslations } from 'use-intl'
import { useUsageSearch } from '../use-usage-search.ts'
import styles from './controls.module.css'
import { Filters } from './filters.tsx'
import { FoldedControls } from './folded-controls.tsx'
import { GroupBy } from './group-by.tsx'
import { RangeForm } from './range-form.tsx'
import { ZoneField } from './zone-field.tsx'

/** Everything that decides what the report says. */
export function Controls() {
  const t = useTranslations('usage')
  const { search } = useUsageSearch()
  const { range, agent, key, user, group, compare } = search
  const set = [agent, key, user, group === '' ? undefined : group, compare]
  return (
    <FoldedControls
      summary={t(`ranges.${range ?? 'custom'}`)}
      count={set.filter((value) => value !== undefined).length}
    >
      <div className={styles.controls}>
        <RangeForm />
        <div className={styles.fields}>
          <GroupBy />
          <Filters />
          <ZoneField />
        </div>
      </div>
    </FoldedControls>
  )
}
