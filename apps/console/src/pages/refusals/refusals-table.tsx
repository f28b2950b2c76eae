import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { REFUSALS_FIELDS } from '../../generated/fields.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
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
  return (
    <ListTable
      label={label ?? t('list')}
      name="refusals"
      columns={useRefusalColumns(label !== undefined)}
      rows={refusals}
      keyOf={({ id }) => id}
      timeOf={({ at }) => at}
      sameIn={whatAndWhose}
    />
  )
}

/** All that a row shows beside its time. */
function whatAndWhose(refusal: RefusalFieldsFragment): string {
  return JSON.stringify({ ...refusal, id: '', requestId: '', at: '' })
}

function useRefusalColumns(isOfUser: boolean) {
  const t = useTranslations('refusals')
  const showsUser = useSession().role === 'admin' && !isOfUser
  const user = { head: t('user'), cell: (row: RefusalFieldsFragment) => row.owner?.username ?? null }
  const drawn: Drawn<RefusalFieldsFragment> = {
    time: {
      head: t('time'),
      kind: 'time',
      cell: ({ id, requestId, at }) => (
        <Link to="/refusals/$requestId" params={{ requestId }} search={{ id }}>
          <Moment at={at} as="time" />
        </Link>
      ),
    },
    status: { head: t('status'), kind: 'state', cell: ({ status }) => <StatusBadge status={status} /> },
    reason: { head: t('reason'), cell: (refusal) => <Reason refusal={refusal} /> },
    agent: {
      head: t('agent'),
      cell: ({ agent, agentId }) => agent?.name ?? (agentId === '' ? null : agentId),
    },
    key: { head: t('key'), cell: ({ key, keyId }) => (keyId === null ? t('token') : (key?.name ?? null)) },
    ...(showsUser && { user }),
    request: { head: t('request'), cell: ({ route }) => <code title={route}>{route}</code> },
  }
  return useColumns('refusals', REFUSALS_FIELDS, drawn, [
    'at',
    'owner',
    'route',
    'limit',
    'field',
    'limitPoints',
    'limitWindowSeconds',
    'limitOf',
  ])
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
