import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import { Count } from '../../charts/count.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { OverviewAgentsDocument, type OverviewQuery } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Card } from '../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { numeric, Table } from '../../ui/table.tsx'
import { AgentStatus } from '../agents/agent-status.tsx'
import { AgentTrouble } from '../agents/agent-trouble.tsx'
import styles from './overview-page.module.css'

type Report = NonNullable<OverviewQuery['usage']>

/** The agents, whether they answer and why not, and how much they were called in the range. */
export function AgentsCard({ report }: { readonly report: Report }) {
  const t = useTranslations('overview')
  return (
    <Card title={t('agents')} aside={<Link to="/agents">{t('tryAgent')}</Link>} isFlush>
      <AgentTable report={report} />
    </Card>
  )
}

function AgentTable({ report: { groups, from, to } }: { readonly report: Report }) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const calledIn = callsLink()
  const { data, error, refetch } = useQuery(graphqlQuery(OverviewAgentsDocument, {}))
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return <Loading shape="list" />
  const agents = data.agents ?? []
  if (agents.length === 0) return <Empty title={t('noAgents')}>{t('noAgentsHint')}</Empty>
  return (
    <Table label={t('agentTable')}>
      <thead>
        <tr>
          <th scope="col">{t('agent')}</th>
          <th scope="col" className={numeric}>
            {t('calls')}
          </th>
          <th scope="col" className={numeric}>
            {t('failures')}
          </th>
        </tr>
      </thead>
      <tbody>
        {agents.map((agent) => {
          const { id, name, status } = agent
          const totals = groups.find(({ agentId }) => agentId === id)?.totals
          return (
            <tr key={id}>
              <th scope="row">
                <span className={styles.agent}>
                  <Link {...calledIn(from, to, { agent: id })}>{name}</Link>
                  <Link to="/agents" search={{ id }}>
                    <AgentStatus status={status} />
                  </Link>
                </span>
                <AgentTrouble agent={agent} />
              </th>
              <td className={numeric}>
                <Count value={totals?.calls ?? 0} link={calledIn(from, to, { agent: id })} />
              </td>
              <td className={numeric}>
                {totals !== undefined && totals.failedCalls > 0 && (
                  <span className={styles.share}>{formats.percent(totals.failedCalls / totals.calls)}</span>
                )}
                <Count
                  value={totals?.failedCalls ?? 0}
                  link={calledIn(from, to, { agent: id, outcome: 'FAILED' })}
                />
              </td>
            </tr>
          )
        })}
      </tbody>
    </Table>
  )
}
