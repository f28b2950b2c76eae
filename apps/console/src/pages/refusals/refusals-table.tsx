import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { useAllowed, useLimitName } from './limit-name.ts'
import { StatusBadge } from './status-badge.tsx'

export function RefusalsTable({ refusals }: { readonly refusals: readonly RefusalFieldsFragment[] }) {
  const t = useTranslations('refusals')
  return <ListTable label={t('list')} columns={useColumns()} rows={refusals} keyOf={({ id }) => id} />
}

function useColumns(): readonly Column<RefusalFieldsFragment>[] {
  const t = useTranslations('refusals')
  const { dateTime } = useFormats()
  const showsUser = useSession().role === 'admin'
  const user = { head: t('user'), cell: ({ owner }: RefusalFieldsFragment) => owner?.username ?? null }
  return [
    {
      head: t('time'),
      kind: 'time',
      cell: ({ id, requestId, at }) => (
        <Link to="/refusals/$requestId" params={{ requestId }} search={{ id }}>
          {dateTime(at)}
        </Link>
      ),
    },
    { head: t('status'), cell: ({ status }) => <StatusBadge status={status} /> },
    { head: t('reason'), cell: (refusal) => <Reason refusal={refusal} /> },
    {
      head: t('agent'),
      cell: ({ agent, agentId }) => agent?.name ?? (agentId === '' ? null : agentId),
    },
    { head: t('key'), cell: ({ key, keyId }) => (keyId === null ? t('token') : (key?.name ?? null)) },
    ...(showsUser ? [user] : []),
    { head: t('request'), cell: ({ route }) => <code title={route}>{route}</code> },
  ]
}

function Reason({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const limitName = useLimitName()
  const allowed = useAllowed()(refusal)
  const { reason, limit, field } = refusal
  return (
    <>
      <code>{reason}</code>
      {limit !== '' && <span className={second}>{limitName(limit)}</span>}
      {allowed !== undefined && <span className={second}>{allowed}</span>}
      {field !== null && (
        <span className={second}>
          {t('atField')} <code>{field}</code>
        </span>
      )}
    </>
  )
}
