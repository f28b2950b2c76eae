import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { CallFieldsFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { OutcomeBadge } from './outcome-badge.tsx'
import { Elapsed } from './stopping/elapsed.tsx'
import { StopButton } from './stopping/stop-button.tsx'
import { isRunning } from './stopping/stop-call.ts'
import { StopDialog } from './stopping/stop-dialog.tsx'

export function CallsTable({ calls }: { readonly calls: readonly CallFieldsFragment[] }) {
  const t = useTranslations('calls')
  const [asked, setAsked] = useState<CallFieldsFragment>()
  const stopping: Column<CallFieldsFragment> = {
    head: t('stop.actions'),
    kind: 'actions',
    cell: (call) => isRunning(call) && <StopButton look="quiet" onStop={() => setAsked(call)} />,
  }
  const columns = useColumns()
  return (
    <>
      <ListTable
        label={t('list')}
        columns={calls.some(isRunning) ? [...columns, stopping] : columns}
        rows={calls}
        keyOf={({ id }) => id}
      />
      {asked !== undefined && <StopDialog call={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function useColumns(): readonly Column<CallFieldsFragment>[] {
  const t = useTranslations('calls')
  const { count, dateTime, duration } = useFormats()
  const showsUser = useSession().role === 'admin'
  const ms = (value: number | null) => (value === null ? null : duration(value))
  const user = { head: t('user'), cell: ({ owner }: CallFieldsFragment) => owner?.username ?? null }
  return [
    {
      head: t('time'),
      kind: 'time',
      cell: ({ id, admittedAt }) => (
        <Link to="/calls/$id" params={{ id }}>
          {dateTime(admittedAt)}
        </Link>
      ),
    },
    { head: t('agent'), cell: (call) => <AgentAndApp call={call} /> },
    {
      head: t('outcome'),
      cell: ({ outcome, reason, paused }) => (
        <>
          <OutcomeBadge outcome={outcome} />
          {reason !== null && <code className={second}>{reason}</code>}
          {paused && <span className={second}>{t('pauses.true')}</span>}
        </>
      ),
    },
    { head: t('key'), cell: ({ key, keyId }) => key?.name ?? keyId.slice(0, 8) },
    ...(showsUser ? [user] : []),
    {
      head: t('tokens'),
      kind: 'numeric',
      cell: ({ totalTokens }) => (totalTokens === null ? null : count(totalTokens)),
    },
    { head: t('firstChunk'), kind: 'numeric', cell: ({ firstChunkMs }) => ms(firstChunkMs) },
    {
      head: t('duration'),
      kind: 'numeric',
      cell: (call) => (isRunning(call) ? <Elapsed since={call.admittedAt} /> : ms(call.durationMs)),
    },
    { head: t('call.model'), cell: ({ model }) => model },
    { head: t('call.face'), cell: ({ face }) => t(`call.faces.${face}`) },
  ]
}

/** The agent's id stands in where the agent is not configured any more. */
function AgentAndApp({ call: { agent, agentId, appId, kind } }: { readonly call: CallFieldsFragment }) {
  const t = useTranslations('calls')
  return (
    <>
      {agent?.name ?? (agentId === '' ? '–' : agentId)}
      {appId !== '' && <span className={second}>{appId}</span>}
      {kind === 'UPLOAD' && <span className={second}>{t('call.kinds.UPLOAD')}</span>}
    </>
  )
}
