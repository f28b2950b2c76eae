import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { type AgentStatus, OverviewAgentsDocument, type OverviewQuery } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { numeric, Table } from '../../ui/table.tsx'

type Groups = NonNullable<OverviewQuery['usage']>['groups']

const TONES: Record<AgentStatus, Tone> = { AVAILABLE: 'ok', DEGRADED: 'warn', UNAVAILABLE: 'danger' }

/** The agents, whether they answer, and how much they were called in the range. */
export function AgentsCard({ groups }: { readonly groups: Groups }) {
  const t = useTranslations('overview')
  return (
    <Card title={t('agents')} aside={<Link to="/agents">{t('tryAgent')}</Link>} isFlush>
      <AgentTable groups={groups} />
    </Card>
  )
}

function AgentTable({ groups }: { readonly groups: Groups }) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const { data, error, refetch } = useQuery(graphqlQuery(OverviewAgentsDocument, {}))
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return <Loading lines={5} />
  const agents = data.agents ?? []
  if (agents.length === 0) return <Empty title={t('noAgents')}>{t('noAgentsHint')}</Empty>
  return (
    <Table label={t('agentTable')}>
      <thead>
        <tr>
          <th scope="col">{t('agent')}</th>
          <th scope="col">{t('status')}</th>
          <th scope="col" className={numeric}>
            {t('calls')}
          </th>
          <th scope="col" className={numeric}>
            {t('failures')}
          </th>
        </tr>
      </thead>
      <tbody>
        {agents.map(({ id, name, status }) => {
          const totals = groups.find(({ agentId }) => agentId === id)?.totals
          return (
            <tr key={id}>
              <th scope="row">{name}</th>
              <td>{status !== null && <Badge tone={TONES[status]}>{t(`statuses.${status}`)}</Badge>}</td>
              <td className={numeric}>{formats.count(totals?.calls ?? 0)}</td>
              <td className={numeric}>{formats.count(totals?.failedCalls ?? 0)}</td>
            </tr>
          )
        })}
      </tbody>
    </Table>
  )
}
