import { useTranslations } from 'use-intl'
import { AgentFilter, UserFilter } from '../../filters/choice-filters.tsx'
import { FilterPanel } from '../../filters/filter-panel.tsx'
import { ListSearch } from '../../filters/list-search.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { setFilters } from '../../filters/set-filters.ts'
import { useNames } from '../../filters/use-names.ts'
import type { ConversationsSearch } from './conversations-search.ts'

interface ConversationsFiltersProps {
  readonly search: ConversationsSearch
  onChange(changed: ConversationsSearch): void
}

/** The controls above the list, which change the address. */
export function ConversationsFilters({ search, onChange }: ConversationsFiltersProps) {
  const t = useTranslations('conversations')
  const calls = useTranslations('calls')
  const names = useNames()
  const { agent, endUser, user } = search
  const set = setFilters<ConversationsSearch>(
    {
      agent: [calls('agent'), names.agent(agent)],
      endUser: [calls('call.endUser'), endUser],
      user: [calls('user'), names.user(user)],
    },
    onChange,
    { isUsual: true },
  )
  return (
    <FilterPanel
      label={t('filters')}
      set={set}
      search={
        <ListSearch
          label={t('search')}
          value={search.search}
          onChange={(text) => onChange({ search: text })}
        />
      }
    >
      <AgentFilter value={agent} onChange={(chosen) => onChange({ agent: chosen })} />
      <SearchFilter
        key={endUser}
        label={calls('call.endUser')}
        value={endUser}
        maxLength={256}
        onChange={(named) => onChange({ endUser: named })}
      />
      <UserFilter value={user} onChange={(chosen) => onChange({ user: chosen })} />
    </FilterPanel>
  )
}
