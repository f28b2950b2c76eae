import { useTranslations } from 'use-intl'
import { AgentFilter, KeyFilter, OptionFilter, UserFilter } from '../../filters/choice-filters.tsx'
import { FilterPanel } from '../../filters/filter-panel.tsx'
import { RangeFilter } from '../../filters/range-filter.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { setFilters } from '../../filters/set-filters.ts'
import { useNames } from '../../filters/use-names.ts'
import { LIMITS, useLimitName } from './limit-name.ts'
import { REASONS } from './refusal-reasons.ts'
import { PRESETS, type RefusalsSearch, rangeOf, shownRange } from './refusals-search.ts'

interface RefusalsFiltersProps {
  readonly search: RefusalsSearch
  readonly now: Date
  onChange(changed: RefusalsSearch): void
  /** A request is looked for among the calls as well. */
  onFind(requestId: string): void
}

/** The controls above the list or the counts, which change the address. */
export function RefusalsFilters({ search, now, onChange, onFind }: RefusalsFiltersProps) {
  const t = useTranslations('refusals')
  const limitName = useLimitName()
  const names = useNames()
  const view = search.show ?? 'single'
  const { agent, key, user, reason, limit, requestId } = search
  const set = setFilters<RefusalsSearch>(
    {
      agent: [t('agent'), names.agent(agent)],
      key: [t('key'), names.key(key)],
      user: [t('user'), names.user(user)],
      reason: [t('reason'), reason],
      limit: [t('limit'), limit && limitName(limit)],
      requestId: [t('requestId'), view === 'single' ? requestId : undefined],
    },
    onChange,
    { isUsual: true },
  )
  return (
    <>
      <RangeFilter
        presets={PRESETS[view]}
        shown={shownRange(search)}
        search={search}
        start={rangeOf(search, now).from}
        onChange={onChange}
      />
      <FilterPanel label={t('filters')} set={set}>
        <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent })} />
        <KeyFilter value={search.key} onChange={(key) => onChange({ key })} />
        <UserFilter value={search.user} onChange={(user) => onChange({ user })} />
        <OptionFilter
          label={t('reason')}
          value={search.reason}
          options={REASONS.map((reason) => [reason, reason])}
          onChange={(reason) => onChange({ reason })}
        />
        <OptionFilter
          label={t('limit')}
          value={search.limit}
          options={LIMITS.map((limit) => [limit, limitName(limit)])}
          onChange={(limit) => onChange({ limit })}
        />
        {view === 'single' && (
          <SearchFilter
            key={search.requestId}
            label={t('requestId')}
            value={search.requestId}
            onChange={(requestId) => (requestId === undefined ? onChange({ requestId }) : onFind(requestId))}
          />
        )}
      </FilterPanel>
    </>
  )
}
