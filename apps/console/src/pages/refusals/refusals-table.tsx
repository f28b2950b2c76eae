import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { useAllowed, useLimitName } from './limit-name.ts'
import { StatusBadge } from './status-badge.tsx'

interface RefusalsTableProps {
  /** That of the refusals of one user. */
  readonly label?: string
  readonly refusals: readonly RefusalFieldsFragment[]
}

export function RefusalsTable({ label, refusals }: RefusalsTableProps) {
  const t = useTranslations('refusals')
  const showsUser = useSession().role === 'admin' && label === undefined
  return (
    <RowTable
      of="refusals"
      label={label}
      rows={refusals}
      keyOf={({ id }) => id}
      timeOf={({ at }) => at}
      sameIn={whatAndWhose}
      within={['at', 'owner', 'route', 'limit', 'field', 'limitPoints', 'limitWindowSeconds', 'limitOf']}
      columns={{
        time: {
          kind: 'time',
          cell: ({ id, requestId, at }) => (
            <Link to="/refusals/$requestId" params={{ requestId }} search={{ id }}>
              <Moment at={at} as="time" />
            </Link>
          ),
        },
        status: { kind: 'state', cell: ({ status }) => <StatusBadge status={status} /> },
        reason: (refusal) => <Reason refusal={refusal} />,
        agent: ({ agent, agentId }) => agent?.name ?? (agentId || null),
        key: ({ key, keyId }) => (keyId === null ? t('token') : (key?.name ?? null)),
        ...(showsUser && { user: ({ owner }: RefusalFieldsFragment) => owner?.username ?? null }),
        request: ({ route }) => <code title={route}>{route}</code>,
      }}
    />
  )
}

/** All that a row shows beside its time. */
function whatAndWhose(refusal: RefusalFieldsFragment): string {
  return JSON.stringify({ ...refusal, id: '', requestId: '', at: '' })
}

function Reason({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const limitName = useLimitName()
  const allowed = useAllowed()(refusal)
  const { reason, limit, field } = refusal
  return (
    <>
      <code>{reason}</code>
      {limit !== '' && (
        <span className={second}>{[limitName(limit), allowed].filter(Boolean).join(' · ')}</span>
      )}
      {field !== null && (
        <span className={second}>
          {t('atField')} <code>{field}</code>
        </span>
      )}
    </>
  )
}
