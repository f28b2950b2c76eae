import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { AgentCard } from './agent-card.tsx'
import styles from './agents-page.module.css'

/** What is shown of the load is some seconds old anyway. */
const REFRESH_MS = 10_000

/** Every agent that the user may call, with what it can do and whether it can serve calls; for administrators with its load. */
export function AgentsPage() {
  const t = useTranslations('agents')
  return (
    <Page title={t('title')} lead={t('lead')}>
      <AgentList />
    </Page>
  )
}

function AgentList() {
  const t = useTranslations('agents')
  const { data, error, refetch } = useQuery({
    ...graphqlQuery(AgentListDocument, {}),
    refetchInterval: REFRESH_MS,
  })
  const notice = error !== null && <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return notice || <Loading />
  const agents = data.agents ?? []
  if (agents.length === 0) return <Empty title={t('empty')}>{t('emptyHint')}</Empty>
  return (
    <>
      {notice}
      <ul className={styles.grid}>
        {agents.map((agent) => (
          <AgentCard key={agent.id} agent={agent} />
        ))}
      </ul>
    </>
  )
}
