import { useTranslations } from 'use-intl'
import { AgentFilter, KeyFilter, UserFilter } from '../../../filters/choice-filters.tsx'
import { useUsageSearch } from '../use-usage-search.ts'
import styles from './controls.module.css'
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

/** Which calls count. */
function Filters() {
  const { search, change } = useUsageSearch()
  return (
    <>
      <AgentFilter value={search.agent} onChange={(agent) => change({ agent })} />
      <KeyFilter value={search.key} onChange={(key) => change({ key })} />
      <UserFilter value={search.user} onChange={(user) => change({ user })} />
    </>
  )
}
