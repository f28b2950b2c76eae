import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { AgentListDocument, AgentUsageDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Card } from '../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { AgentsTable } from './agents-table.tsx'

const route = getRouteApi('/shell/agents')

/** What is shown of the load is some seconds old anyway. */
const REFRESH_MS = 10_000
const USAGE_REFRESH_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Every agent that the user may call, with how it did in the last 24 hours; one at a time with all that is known of it. */
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
  const { id } = route.useSearch()
  const { data, error, refetch } = useQuery({
    ...graphqlQuery(AgentListDocument, {}),
    refetchInterval: REFRESH_MS,
  })
  // Reports are by the hour.
  const to = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const usage = useQuery({
    ...graphqlQuery(AgentUsageDocument, { from: timeOf(to - DAY_MS), to: timeOf(to) }),
    refetchInterval: USAGE_REFRESH_MS,
  })
  const notice = error !== null && <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return notice || <Loading />
  const agents = data.agents ?? []
  if (agents.length === 0) return <Empty title={t('empty')}>{t('emptyHint')}</Empty>
  return (
    <>
      {notice}
      {usage.error !== null && <ErrorNotice error={usage.error} retry={usage.refetch} />}
      <Card isFlush>
        <AgentsTable agents={agents} report={usage.data?.usage ?? undefined} chosen={id} />
      </Card>
    </>
  )
}

const timeOf = (ms: number) => new Date(ms).toISOString()
