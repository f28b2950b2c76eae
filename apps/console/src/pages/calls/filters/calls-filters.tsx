import { useTranslations } from 'use-intl'
import { AgentFilter, KeyFilter, OptionFilter, UserFilter } from '../../../filters/choice-filters.tsx'
import { FilterPanel } from '../../../filters/filter-panel.tsx'
import { RangeFilter } from '../../../filters/range-filter.tsx'
import { SearchFilter } from '../../../filters/search-filter.tsx'
import { rangeOf, shownRange } from '../calls-range.ts'
import { type CallsSearch, RANGES, STATES } from '../calls-search.ts'
import { MoreFilters } from './more-filters.tsx'
import { useSetFilters } from './use-set-filters.ts'

interface CallsFiltersProps {
  readonly search: CallsSearch
  readonly now: Date
  onChange(changed: CallsSearch): void
  /** A request is looked for among the refusals as well. */
  onFind(requestId: string): void
}

/** The controls above the list, which change the address. */
export function CallsFilters({ search, now, onChange, onFind }: CallsFiltersProps) {
  const t = useTranslations('calls')
  const set = useSetFilters(search, onChange)
  return (
    <>
      <RangeFilter
        presets={RANGES}
        shown={shownRange(search, now)}
        search={search}
        start={rangeOf(search, now).from}
        onChange={onChange}
      />
      <FilterPanel label={t('filters')} more={<MoreFilters search={search} onChange={onChange} />} set={set}>
        <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent })} />
        <KeyFilter value={search.key} onChange={(key) => onChange({ key })} />
        <UserFilter value={search.user} onChange={(user) => onChange({ user })} />
        <OptionFilter
          label={t('outcome')}
          value={search.outcome}
          options={STATES.map((state) => [state, t(`outcomes.${state}`)])}
          onChange={(outcome) => onChange({ outcome: outcome as CallsSearch['outcome'] })}
        />
        <SearchFilter
          key={search.requestId}
          label={t('requestId')}
          value={search.requestId}
          onChange={(requestId) => (requestId === undefined ? onChange({ requestId }) : onFind(requestId))}
        />
      </FilterPanel>
    </>
  )
}
