import { useTranslations } from 'use-intl'
import { KeyFilter, OptionFilter, UserFilter } from '../../filters/choice-filters.tsx'
import { FilterPanel } from '../../filters/filter-panel.tsx'
import { RangeFilter } from '../../filters/range-filter.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { setFilters } from '../../filters/set-filters.ts'
import { useNames } from '../../filters/use-names.ts'
import { type AuditSearch, RANGES, RESULTS, rangeOf, shownRange } from './audit-search.ts'
import { useWords } from './words.ts'

interface AuditFiltersProps {
  readonly search: AuditSearch
  readonly now: Date
  onChange(changed: AuditSearch): void
}

/** The controls above the list, which change the address. */
export function AuditFilters({ search, now, onChange }: AuditFiltersProps) {
  const t = useTranslations('audit')
  const filters = useTranslations('filters')
  const words = useWords()
  const names = useNames()
  const { operation, result, user, key, target, targetId, requestId } = search
  const set = setFilters<AuditSearch>(
    {
      operation: [t('operation'), operation && words.operation(operation)],
      result: [t('result'), result && t(`results.${result}`)],
      user: [filters('user'), names.user(user)],
      key: [filters('key'), names.key(key)],
      target: [t('target'), target && words.target(target)],
      targetId: [t('targetId'), targetId],
      requestId: [t('requestId'), requestId],
    },
    onChange,
    { isUsual: true },
  )
  return (
    <>
      <RangeFilter
        presets={RANGES}
        shown={shownRange(search)}
        search={search}
        start={rangeOf(search, now).from}
        onChange={onChange}
      />
      <FilterPanel label={t('filters')} set={set}>
        <OptionFilter
          label={t('operation')}
          value={search.operation}
          options={words.operations}
          onChange={(operation) => onChange({ operation })}
        />
        <OptionFilter
          label={t('result')}
          value={search.result}
          options={RESULTS.map((result) => [result, t(`results.${result}`)])}
          onChange={(result) => onChange({ result: result as AuditSearch['result'] })}
        />
        <UserFilter value={search.user} onChange={(user) => onChange({ user })} />
        <KeyFilter value={search.key} onChange={(key) => onChange({ key })} />
        <OptionFilter
          label={t('target')}
          value={search.target}
          options={words.targets}
          onChange={(target) => onChange({ target })}
        />
        <SearchFilter
          key={`target ${search.targetId}`}
          label={t('targetId')}
          value={search.targetId}
          onChange={(targetId) => onChange({ targetId })}
        />
        <SearchFilter
          key={`request ${search.requestId}`}
          label={t('requestId')}
          value={search.requestId}
          onChange={(requestId) => onChange({ requestId })}
        />
      </FilterPanel>
    </>
  )
}
