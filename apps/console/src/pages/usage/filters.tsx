import { useTranslations } from 'use-intl'
import { useAgentChoices, useKeyChoices, useUserChoices } from '../../choose/use-choices.ts'
import { useSession } from '../../session/use-session.ts'
import { FilterSelect } from '../../ui/fields/filter-select.tsx'
import { ManyChoices } from '../../ui/fields/many-choices.tsx'
import styles from './usage-page.module.css'
import { GROUPS, groupsOf } from './usage-search.ts'
import { useUsageSearch } from './use-usage-search.ts'

/** By what the calls are grouped, and which of them count. */
export function Filters() {
  const t = useTranslations('usage')
  const { role } = useSession()
  const { search, change } = useUsageSearch()
  const isAdmin = role === 'admin'
  const agents = useAgentChoices()
  const keys = useKeyChoices()
  const users = useUserChoices()
  const groups = groupsOf(search.group)
  return (
    <>
      <div className={styles.row}>
        <span className={styles.label} aria-hidden="true">
          {t('groupBy')}
        </span>
        <ManyChoices
          label={t('groupBy')}
          values={groups}
          // All of a user's calls are its own.
          options={GROUPS.filter((name) => isAdmin || name !== 'user').map((value) => ({
            value,
            label: t(`groups.${value}`),
          }))}
          onChange={(chosen) => {
            // Without the agent, its apps cannot be told apart.
            const isWithoutAgent = groups.includes('agent') && !chosen.includes('agent')
            change({ group: chosen.filter((name) => !(isWithoutAgent && name === 'app')).join(',') })
          }}
        />
      </div>
      <div className={styles.fields}>
        <FilterSelect
          label={t('groups.agent')}
          value={search.agent}
          options={agents.map(({ id, name }) => [id, name])}
          onChange={(agent) => change({ agent })}
        />
        <FilterSelect
          label={t('groups.key')}
          value={search.key}
          options={keys.map(({ id, name, keyPrefix }) => [id, `${name} (${keyPrefix}…)`])}
          onChange={(key) => change({ key })}
        />
        {isAdmin && (
          <FilterSelect
            label={t('groups.user')}
            value={search.user}
            options={users.map(({ id, username }) => [id, username])}
            onChange={(user) => change({ user })}
          />
        )}
      </div>
    </>
  )
}
