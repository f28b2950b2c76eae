import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { CALLS_FIELDS } from '../../generated/fields.ts'
import type { CallFieldsFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { useSession } from '../../session/use-session.ts'
import { OutcomeBadge } from './outcome-badge.tsx'
import { Elapsed } from './stopping/elapsed.tsx'
import { StopButton } from './stopping/stop-button.tsx'
import { isRunning } from './stopping/stop-call.ts'
import { StopDialog } from './stopping/stop-dialog.tsx'

interface CallsTableProps {
  /** That of the calls of one user. */
  readonly label?: string
  readonly calls: readonly CallFieldsFragment[]
}

export function CallsTable({ label, calls }: CallsTableProps) {
  const t = useTranslations('calls')
  const [asked, setAsked] = useState<CallFieldsFragment>()
  const stopping: Column<CallFieldsFragment> = {
    head: t('stop.actions'),
    kind: 'actions',
    cell: (call) => isRunning(call) && <StopButton look="quiet" onStop={() => setAsked(call)} />,
  }
  const columns = useCallColumns(label !== undefined)
  return (
    <>
      <ListTable
        label={label ?? t('list')}
        name="calls"
        columns={calls.some(isRunning) ? { ...columns, stopping } : columns}
        rows={calls}
        keyOf={({ id }) => id}
        timeOf={({ admittedAt }) => admittedAt}
      />
      {asked !== undefined && <StopDialog call={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function useCallColumns(isOfUser: boolean) {
  const t = useTranslations('calls')
  const { count, duration } = useFormats()
  const showsUser = useSession().role === 'admin' && !isOfUser
  const ms = (value: number | null) => (value === null ? null : duration(value))
  const user = { head: t('user'), cell: ({ owner }: CallFieldsFragment) => owner?.username ?? null }
  const drawn: Drawn<CallFieldsFragment> = {
    time: {
      head: t('time'),
      kind: 'time',
      cell: ({ id, admittedAt }) => (
        <Link to="/calls/$id" params={{ id }}>
          <Moment at={admittedAt} as="time" />
        </Link>
      ),
    },
    agent: { head: t('agent'), cell: (call) => <Agent call={call} /> },
    app: { head: t('call.app'), cell: ({ appId }) => (appId === '' ? null : appId) },
    outcome: {
      head: t('outcome'),
      kind: 'state',
      cell: ({ outcome, reason, paused }) => (
        <>
          <OutcomeBadge outcome={outcome} />
          {reason !== null && <code className={second}>{reason}</code>}
          {paused && <span className={second}>{t('pauses.true')}</span>}
        </>
      ),
    },
    key: { head: t('key'), cell: ({ key, keyId }) => key?.name ?? keyId.slice(0, 8) },
    ...(showsUser && { user }),
    tokens: {
      head: t('tokens'),
      kind: 'numeric',
      cell: ({ totalTokens }) => (totalTokens === null ? null : count(totalTokens)),
    },
    firstChunk: { head: t('firstChunk'), kind: 'numeric', cell: ({ firstChunkMs }) => ms(firstChunkMs) },
    duration: {
      head: t('duration'),
      kind: 'numeric',
      cell: (call) => (isRunning(call) ? <Elapsed since={call.admittedAt} /> : ms(call.durationMs)),
    },
    model: { head: t('call.model'), cell: ({ model }) => model },
    face: { isExtra: true, head: t('call.face'), cell: ({ face }) => t(`call.faces.${face}`) },
  }
  return useColumns('calls', CALLS_FIELDS, drawn, [
    'admittedAt',
    'reason',
    'paused',
    'kind',
    'owner',
    'totalTokens',
    'firstChunkMs',
    'durationMs',
  ])
}

/** The agent's id stands in where the agent is not configured any more. */
function Agent({ call: { agent, agentId, kind } }: { readonly call: CallFieldsFragment }) {
  const t = useTranslations('calls')
  return (
    <>
      {agent?.name ?? (agentId === '' ? '–' : agentId)}
      {kind === 'UPLOAD' && <span className={second}>{t('call.kinds.UPLOAD')}</span>}
    </>
  )
}
