import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { ApiKeyOrder, KeyFieldsFragment } from '../../../generated/graphql.ts'
import type { Column } from '../../../lists/column.ts'
import { ListTable, second } from '../../../lists/list-table.tsx'
import type { Order } from '../../../lists/order.ts'
import { useSession } from '../../../session/use-session.ts'
import styles from '../keys.module.css'
import { ExpiryBadge } from '../state/expiry-badge.tsx'
import { KeyBadge } from '../state/key-badge.tsx'

interface KeysTableProps {
  readonly keys: readonly KeyFieldsFragment[]
  readonly order: Order<ApiKeyOrder>
  onOrder(order: Order<ApiKeyOrder>): void
}

export function KeysTable({ keys, order, onOrder }: KeysTableProps) {
  const t = useTranslations('keys')
  const columns = useColumns()
  return (
    <ListTable
      label={t('list')}
      columns={columns}
      rows={keys}
      keyOf={({ id }) => id}
      order={order}
      onOrder={onOrder}
    />
  )
}

function useColumns(): readonly Column<KeyFieldsFragment, ApiKeyOrder>[] {
  const t = useTranslations('keys')
  const { count, date, dateTime } = useFormats()
  const { role } = useSession()
  const owner = { head: t('owner'), cell: (key: KeyFieldsFragment) => key.owner?.username ?? null }
  return [
    { head: t('name'), order: { field: 'NAME', direction: 'ASC' }, cell: (key) => <KeyName apiKey={key} /> },
    { head: t('state'), cell: (key) => <KeyBadge apiKey={key} /> },
    {
      head: t('expires'),
      kind: 'date',
      order: { field: 'EXPIRES_AT', direction: 'ASC' },
      cell: (key) => (
        <span className={styles.expiry}>
          {date(key.expiresAt)}
          <ExpiryBadge apiKey={key} />
        </span>
      ),
    },
    ...(role === 'admin' ? [owner] : []),
    {
      head: t('today'),
      kind: 'numeric',
      order: { field: 'CALLS_TODAY', direction: 'DESC' },
      cell: ({ usage }) => count(usage.callsToday),
    },
    {
      head: t('month'),
      kind: 'numeric',
      order: { field: 'CALLS_THIS_MONTH', direction: 'DESC' },
      cell: ({ usage }) => count(usage.callsThisMonth),
    },
    {
      head: t('total'),
      kind: 'numeric',
      order: { field: 'TOTAL_CALLS', direction: 'DESC' },
      cell: ({ usage }) => count(usage.totalCalls),
    },
    {
      head: t('lastUsed'),
      kind: 'time',
      order: { field: 'LAST_USED_AT', direction: 'DESC' },
      cell: ({ usage }) => (usage.lastUsedAt === null ? t('never') : dateTime(usage.lastUsedAt)),
    },
    {
      head: t('madeOn'),
      kind: 'date',
      order: { field: 'CREATED_AT', direction: 'DESC' },
      cell: (key) => date(key.createdAt),
    },
  ]
}

function KeyName({ apiKey: { id, name, keyPrefix } }: { readonly apiKey: KeyFieldsFragment }) {
  return (
    <>
      <Link to="/keys/$id" params={{ id }} title={name}>
        {name}
      </Link>
      <code className={second}>{`${keyPrefix}…`}</code>
    </>
  )
}
