import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { API_KEYS_FIELDS } from '../../generated/fields.ts'
import type { ApiKeyOrder, KeyFieldsFragment } from '../../generated/graphql.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import type { Order } from '../../lists/order.ts'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { useSession } from '../../session/use-session.ts'
import styles from './keys.module.css'
import { ExpiryBadge } from './state/expiry-badge.tsx'
import { KeyBadge } from './state/key-badge.tsx'

interface KeysTableProps {
  /** That of the keys of one user. */
  readonly label?: string
  readonly keys: readonly KeyFieldsFragment[]
  readonly order?: Order<ApiKeyOrder>
  onOrder?(order: Order<ApiKeyOrder>): void
}

export function KeysTable({ label, keys, ...order }: KeysTableProps) {
  const t = useTranslations('keys')
  const columns = useKeyColumns(label !== undefined)
  return (
    <ListTable
      label={label ?? t('list')}
      name="keys"
      columns={columns}
      rows={keys}
      keyOf={({ id }) => id}
      {...order}
    />
  )
}

function useKeyColumns(isOfUser: boolean) {
  const t = useTranslations('keys')
  const { count } = useFormats()
  const { role } = useSession()
  const owner = { head: t('owner'), cell: (key: KeyFieldsFragment) => key.owner?.username ?? null }
  const drawn: Drawn<KeyFieldsFragment, ApiKeyOrder> = {
    name: {
      head: t('name'),
      order: { field: 'NAME', direction: 'ASC' },
      cell: (key) => <KeyName apiKey={key} />,
    },
    state: { head: t('state'), kind: 'state', cell: (key) => <KeyBadge apiKey={key} /> },
    expires: {
      head: t('expires'),
      kind: 'time',
      order: { field: 'EXPIRES_AT', direction: 'ASC' },
      cell: (key) => (
        <span className={styles.expiry}>
          <Moment at={key.expiresAt} as="date" />
          <ExpiryBadge apiKey={key} />
        </span>
      ),
    },
    ...(role === 'admin' && !isOfUser && { owner }),
    today: {
      head: t('today'),
      kind: 'numeric',
      order: { field: 'CALLS_TODAY', direction: 'DESC' },
      cell: ({ usage }) => count(usage.callsToday),
    },
    month: {
      head: t('month'),
      kind: 'numeric',
      order: { field: 'CALLS_THIS_MONTH', direction: 'DESC' },
      cell: ({ usage }) => count(usage.callsThisMonth),
    },
    total: {
      head: t('total'),
      kind: 'numeric',
      order: { field: 'TOTAL_CALLS', direction: 'DESC' },
      cell: ({ usage }) => count(usage.totalCalls),
    },
    lastUsed: {
      head: t('lastUsed'),
      kind: 'time',
      order: { field: 'LAST_USED_AT', direction: 'DESC' },
      cell: ({ usage }) => (usage.lastUsedAt === null ? t('never') : <Moment at={usage.lastUsedAt} />),
    },
    madeOn: {
      head: t('madeOn'),
      kind: 'time',
      order: { field: 'CREATED_AT', direction: 'DESC' },
      cell: (key) => <Moment at={key.createdAt} as="date" />,
    },
  }
  return useColumns('keys', API_KEYS_FIELDS, drawn, [
    'keyPrefix',
    'isActive',
    'revokedAt',
    'expiresAt',
    'owner',
    'lastUsedAt',
    'createdAt',
  ])
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
