import { useTranslations } from 'use-intl'
import { KeyFilter, OptionFilter, UserFilter } from '../../filters/choice-filters.tsx'
import { RangeFilter } from '../../filters/range-filter.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { Toolbar } from '../../ui/page.tsx'
import {
  type AuditSearch,
  OPERATIONS,
  RANGES,
  RESULTS,
  rangeOf,
  shownRange,
  TARGETS,
} from './audit-search.ts'
import { useWords } from './words.ts'

interface AuditFiltersProps {
  readonly search: AuditSearch
  readonly now: Date
  onChange(changed: AuditSearch): void
}

/** The controls above the list, which change the address. */
export function AuditFilters({ search, now, onChange }: AuditFiltersProps) {
  const t = useTranslations('audit')
  const words = useWords()
  return (
    <>
      <RangeFilter
        presets={RANGES}
        shown={shownRange(search)}
        search={search}
        start={rangeOf(search, now).from}
        onChange={onChange}
      />
      <Toolbar label={t('filters')}>
        <OptionFilter
          label={t('operation')}
          value={search.operation}
          options={OPERATIONS.map((operation) => [operation, words.operation(operation)])}
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
          options={TARGETS.map((target) => [target, words.target(target)])}
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
      </Toolbar>
    </>
  )
}
