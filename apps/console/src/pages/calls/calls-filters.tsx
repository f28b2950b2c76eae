import { X } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { AgentFilter, KeyFilter, OptionFilter, UserFilter } from '../../filters/choice-filters.tsx'
import { RangeFilter } from '../../filters/range-filter.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import type { CallState } from '../../generated/graphql.ts'
import { Button } from '../../ui/button.tsx'
import { Toolbar } from '../../ui/page.tsx'
import styles from './calls.module.css'
import { rangeOf, shownRange } from './calls-range.ts'
import { type CallsSearch, RANGES, STATES } from './calls-search.ts'

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
  return (
    <>
      <RangeFilter
        presets={RANGES}
        shown={shownRange(search, now)}
        search={search}
        start={rangeOf(search, now).from}
        onChange={onChange}
      />
      <Toolbar label={t('filters')}>
        <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent })} />
        <KeyFilter value={search.key} onChange={(key) => onChange({ key })} />
        <UserFilter value={search.user} onChange={(user) => onChange({ user })} />
        <OptionFilter
          label={t('outcome')}
          value={search.outcome}
          options={STATES.map((state) => [state, t(`outcomes.${state}`)])}
          onChange={(outcome) => onChange({ outcome: outcome as CallState | undefined })}
        />
        <SearchFilter
          key={search.requestId}
          label={t('requestId')}
          value={search.requestId}
          onChange={(requestId) => (requestId === undefined ? onChange({ requestId }) : onFind(requestId))}
        />
        {search.conversation !== undefined && (
          <Button
            className={styles.chip}
            title={t('clearConversation')}
            onClick={() => onChange({ conversation: undefined })}
          >
            <span>{t('conversation', { id: search.conversation })}</span>
            <X aria-hidden />
            <span className="visually-hidden">{t('clearConversation')}</span>
          </Button>
        )}
      </Toolbar>
    </>
  )
}
