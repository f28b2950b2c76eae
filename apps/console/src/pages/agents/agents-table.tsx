import { Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { callsLink, tookAtLeast } from '../../charts/calls-link.ts'
import { Count } from '../../charts/count.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { AgentUsageQuery } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import type { Agent } from './agent.ts'
import { AgentDetails } from './agent-details.tsx'
import { AgentStatus } from './agent-status.tsx'
import { AgentTrouble } from './agent-trouble.tsx'
import { failingOf } from './failing.ts'

interface AgentsTableProps {
  readonly agents: readonly Agent[]
  /** Undefined until it has been read. */
  readonly report: NonNullable<AgentUsageQuery['usage']> | undefined
  /** The id of the agent whose row is open. */
  readonly chosen: string | undefined
}

/** The agents, a row each. The row that the address names is open, and shows everything of its agent. */
export function AgentsTable({ agents, report, chosen }: AgentsTableProps) {
  const t = useTranslations('agents')
  const formats = useFormats()
  const groupOf = (id: string) => report?.groups.find(({ agentId }) => agentId === id)
  const totalsOf = (id: string) => groupOf(id)?.totals
  const linkTo = (agent: string, filter = {}) =>
    report && callsLink({ agent })(report.from, report.to, filter)
  const count = (value: number | undefined, id: string, filter?: object) =>
    report && <Count value={value ?? 0} link={linkTo(id, filter)} />
  const p95 = (id: string, time: 'firstChunkMs' | 'durationMs') => {
    const ms = totalsOf(id)?.[time]?.p95
    const link = ms === undefined ? undefined : linkTo(id, tookAtLeast(time)(ms))
    return ms === undefined || link === undefined ? null : <Link {...link}>{formats.about(ms)}</Link>
  }
  const failing = (id: string) => {
    const found = failingOf(groupOf(id)?.points ?? [])
    if (report === undefined || found === undefined) return null
    const { calls, failedCalls, since } = found
    return (
      <Link
        {...callsLink({ agent: id })(since, report.to, { outcome: 'FAILED' })}
        title={t('failingHint', { calls, failedCalls, since: formats.moment(since) })}
      >
        <Badge tone="danger">{t('failing', { share: formats.percent(failedCalls / calls) })}</Badge>
      </Link>
    )
  }
  const columns: Column<Agent>[] = [
    {
      head: t('agent'),
      cell: ({ id, name }) => (
        <>
          <Link to="/agents" search={id === chosen ? {} : { id }} aria-expanded={id === chosen}>
            {name}
          </Link>
          <code className={second}>{id}</code>
        </>
      ),
    },
    {
      head: t('state'),
      cell: (agent) => (
        <>
          <AgentStatus status={agent.status} /> {failing(agent.id)}
          <AgentTrouble agent={agent} />
        </>
      ),
    },
    {
      head: t('platform'),
      cell: ({ platform, sandbox }) => `${platform}${sandbox ? ` (${t('sandbox')})` : ''}`,
    },
    { head: t('calls'), kind: 'numeric', cell: ({ id }) => count(totalsOf(id)?.calls, id) ?? null },
    {
      head: t('failures'),
      kind: 'numeric',
      cell: ({ id }) => count(totalsOf(id)?.failedCalls, id, { outcome: 'FAILED' }) ?? null,
    },
    { head: t('firstChunkP95'), kind: 'numeric', cell: ({ id }) => p95(id, 'firstChunkMs') },
    { head: t('durationP95'), kind: 'numeric', cell: ({ id }) => p95(id, 'durationMs') },
    {
      head: t('actions'),
      kind: 'actions',
      cell: ({ id, name }) => (
        <Link
          className={buttonClass('quiet')}
          to="/playground/$id"
          params={{ id }}
          aria-label={t('askName', { name })}
        >
          <MessagesSquare aria-hidden />
          {t('ask')}
        </Link>
      ),
    },
  ]
  return (
    <ListTable
      label={t('list')}
      columns={columns}
      rows={agents}
      keyOf={({ id }) => id}
      isChosen={({ id }) => id === chosen}
      details={(agent) => agent.id === chosen && <AgentDetails agent={agent} />}
    />
  )
}
