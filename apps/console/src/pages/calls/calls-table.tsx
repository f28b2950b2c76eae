import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { CallFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { OutcomeBadge } from './outcome-badge.tsx'
import { Elapsed } from './stopping/elapsed.tsx'
import { isRunning } from './stopping/stop-call.ts'
import { StopButton, StopDialog } from './stopping/stop-dialog.tsx'

interface CallsTableProps {
  /** That of the calls of one user. */
  readonly label?: string
  readonly calls: readonly CallFieldsFragment[]
}

export function CallsTable({ label, calls }: CallsTableProps) {
  const t = useTranslations('calls')
  const { duration } = useFormats()
  const showsUser = useSession().role === 'admin' && label === undefined
  const [asked, setAsked] = useState<CallFieldsFragment>()
  const stopping = {
    head: t('stop.actions'),
    kind: 'actions' as const,
    cell: (call: CallFieldsFragment) =>
      isRunning(call) && <StopButton look="quiet" onStop={() => setAsked(call)} />,
  }
  return (
    <>
      <RowTable
        of="calls"
        label={label}
        rows={calls}
        keyOf={({ id }) => id}
        timeOf={({ admittedAt }) => admittedAt}
        within={['admittedAt', 'reason', 'paused', 'kind', 'owner']}
        columns={{
          time: {
            kind: 'time',
            cell: ({ id, admittedAt }) => (
              <Link to="/calls/$id" params={{ id }}>
                <Moment at={admittedAt} as="time" />
              </Link>
            ),
          },
          agent: (call) => <Agent call={call} />,
          app: {},
          outcome: {
            kind: 'state',
            cell: ({ outcome, reason, paused }) => (
              <>
                <OutcomeBadge outcome={outcome} />
                {reason !== null && <code className={second}>{reason}</code>}
                {paused && <span className={second}>{t('pauses.true')}</span>}
              </>
            ),
          },
          key: ({ key, keyId }) => key?.name ?? keyId.slice(0, 8),
          ...(showsUser && { user: ({ owner }: CallFieldsFragment) => owner?.username ?? null }),
          totalTokens: { head: t('tokens') },
          firstChunkMs: { head: t('firstChunk') },
          durationMs: {
            head: t('duration'),
            cell: (call) => {
              if (isRunning(call)) return <Elapsed since={call.admittedAt} />
              return call.durationMs === null ? null : duration(call.durationMs)
            },
          },
          model: {},
          face: { isExtra: true },
          ...(calls.some(isRunning) && { stopping }),
        }}
      />
      {asked !== undefined && <StopDialog call={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
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
