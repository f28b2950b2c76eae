import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { ApiKeyOrder, KeyFieldsFragment } from '../../generated/graphql.ts'
import { type ListTableProps, second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { useSession } from '../../session/use-session.ts'
import styles from './keys.module.css'
import { ExpiryBadge } from './state/expiry-badge.tsx'
import { KeyBadge } from './state/key-badge.tsx'

interface KeysTableProps extends Pick<ListTableProps<KeyFieldsFragment, ApiKeyOrder>, 'order' | 'onOrder'> {
  /** That of the keys of one user. */
  readonly label?: string
  readonly keys: readonly KeyFieldsFragment[]
}

export function KeysTable({ label, keys, ...order }: KeysTableProps) {
  const t = useTranslations('keys')
  const { count } = useFormats()
  const showsOwner = useSession().role === 'admin' && label === undefined
  const counter = (field: ApiKeyOrder, name: 'callsToday' | 'callsThisMonth' | 'totalCalls') =>
    ({
      kind: 'numeric',
      order: { field, direction: 'DESC' },
      cell: ({ usage }: KeyFieldsFragment) => count(usage[name]),
    }) as const
  return (
    <RowTable
      of="keys"
      label={label}
      rows={keys}
      keyOf={({ id }) => id}
      {...order}
      within={['keyPrefix', 'isActive', 'revokedAt', 'expiresAt', 'owner', 'lastUsedAt', 'createdAt']}
      columns={{
        name: {
          order: { field: 'NAME', direction: 'ASC' },
          cell: ({ id, name, keyPrefix }) => (
            <>
              <Link to="/keys/$id" params={{ id }} title={name}>
                {name}
              </Link>
              <code className={second}>{`${keyPrefix}…`}</code>
            </>
          ),
        },
        state: { kind: 'state', cell: (key) => <KeyBadge apiKey={key} /> },
        expires: {
          kind: 'time',
          order: { field: 'EXPIRES_AT', direction: 'ASC' },
          cell: (key) => (
            <span className={styles.expiry}>
              <Moment at={key.expiresAt} as="date" />
              <ExpiryBadge apiKey={key} />
            </span>
          ),
        },
        ...(showsOwner && { owner: (key: KeyFieldsFragment) => key.owner?.username ?? null }),
        today: counter('CALLS_TODAY', 'callsToday'),
        month: counter('CALLS_THIS_MONTH', 'callsThisMonth'),
        total: counter('TOTAL_CALLS', 'totalCalls'),
        lastUsed: {
          kind: 'time',
          order: { field: 'LAST_USED_AT', direction: 'DESC' },
          cell: ({ usage }) => (usage.lastUsedAt === null ? t('never') : <Moment at={usage.lastUsedAt} />),
        },
        madeOn: {
          kind: 'time',
          order: { field: 'CREATED_AT', direction: 'DESC' },
          cell: (key) => <Moment at={key.createdAt} as="date" />,
        },
      }}
    />
  )
}
