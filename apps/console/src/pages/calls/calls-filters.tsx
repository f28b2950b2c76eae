import { X } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useAgentChoices, useKeyChoices, useUserChoices } from '../../choose/use-choices.ts'
import type { CallState } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { FilterSelect } from '../../ui/fields/filter-select.tsx'
import { Toolbar } from '../../ui/page.tsx'
import styles from './calls.module.css'
import { type CallsSearch, STATES } from './calls-search.ts'
import { RangeFilter } from './range-filter.tsx'
import { RequestIdFilter } from './request-id-filter.tsx'

interface CallsFiltersProps {
  readonly search: CallsSearch
  onChange(changed: CallsSearch): void
}

/** The controls above the list, which change the address. */
export function CallsFilters({ search, onChange }: CallsFiltersProps) {
  const t = useTranslations('calls')
  const { role } = useSession()
  const agents = useAgentChoices()
  const keys = useKeyChoices()
  const users = useUserChoices()
  return (
    <>
      <RangeFilter search={search} onChange={onChange} />
      <Toolbar label={t('filters')}>
        <FilterSelect
          className={styles.filter}
          label={t('agent')}
          value={search.agent}
          options={agents.map(({ id, name }) => [id, name])}
          onChange={(agent) => onChange({ agent })}
        />
        <FilterSelect
          className={styles.filter}
          label={t('key')}
          value={search.key}
          options={keys.map(({ id, name, keyPrefix }) => [id, `${name} (${keyPrefix}…)`])}
          onChange={(key) => onChange({ key })}
        />
        {role === 'admin' && (
          <FilterSelect
            className={styles.filter}
            label={t('user')}
            value={search.user}
            options={users.map(({ id, username }) => [id, username])}
            onChange={(user) => onChange({ user })}
          />
        )}
        <FilterSelect
          className={styles.filter}
          label={t('outcome')}
          value={search.outcome}
          options={STATES.map((state) => [state, t(`outcomes.${state}`)])}
          onChange={(outcome) => onChange({ outcome: outcome as CallState | undefined })}
        />
        <RequestIdFilter
          key={search.requestId}
          value={search.requestId}
          onChange={(requestId) => onChange({ requestId })}
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
