import { AgentFilter, KeyFilter, UserFilter } from '../../../filters/choice-filters.tsx'
import { useUsageSearch } from '../use-usage-search.ts'

/** Which calls count. */
export function Filters() {
  const { search, change } = useUsageSearch()
  return (
    <>
      <AgentFilter value={search.agent} onChange={(agent) => change({ agent })} />
      <KeyFilter value={search.key} onChange={(key) => change({ key })} />
      <UserFilter value={search.user} onChange={(user) => change({ user })} />
    </>
  )
}
