import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { USERS_FIELDS } from '../../generated/fields.ts'
import type { UserOrder } from '../../generated/graphql.ts'
import { ListTable } from '../../lists/list-table.tsx'
import type { Order } from '../../lists/order.ts'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { Badge } from '../../ui/badge.tsx'
import { QuotaUse } from './quota-use.tsx'
import { UserActions } from './user-actions.tsx'
import { lowerCase, type UserAction, type UserRecord } from './user-record.ts'

interface UserTableProps {
  readonly users: readonly UserRecord[]
  readonly order: Order<UserOrder>
  onOrder(order: Order<UserOrder>): void
  onAction(action: UserAction, user: UserRecord): void
}

export function UserTable({ users, order, onOrder, onAction }: UserTableProps) {
  const t = useTranslations('users')
  const columns = useUserColumns(onAction)
  return (
    <ListTable
      label={t('title')}
      name="users"
      columns={columns}
      rows={users}
      keyOf={({ id }) => id}
      order={order}
      onOrder={onOrder}
    />
  )
}

function useUserColumns(onAction: UserTableProps['onAction']) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const drawn: Drawn<UserRecord, UserOrder> = {
    username: {
      head: t('username'),
      order: { field: 'USERNAME', direction: 'ASC' },
      cell: ({ id, username }) => (
        <Link to="/users/$id" params={{ id }} title={username}>
          {username}
        </Link>
      ),
    },
    status: {
      head: t('status'),
      kind: 'state',
      cell: ({ status }) => (
        <Badge tone={status === 'ACTIVE' ? 'ok' : 'danger'}>{t(`statuses.${lowerCase(status)}`)}</Badge>
      ),
    },
    quota: {
      head: t('quota'),
      order: { field: 'QUOTA_USED', direction: 'DESC' },
      cell: (user) => <QuotaUse user={user} />,
    },
    role: {
      head: t('role'),
      cell: ({ role }) => (
        <Badge tone={role === 'ADMIN' ? 'accent' : 'neutral'}>{common(`roles.${lowerCase(role)}`)}</Badge>
      ),
    },
    lastLogin: {
      head: t('lastLogin'),
      kind: 'time',
      order: { field: 'LAST_LOGIN', direction: 'DESC' },
      cell: ({ lastLogin }) => (lastLogin === null ? t('neverLoggedIn') : <Moment at={lastLogin} />),
    },
    createdAt: {
      head: t('createdAt'),
      kind: 'time',
      order: { field: 'CREATED_AT', direction: 'DESC' },
      cell: ({ createdAt }) => <Moment at={createdAt} as="date" />,
    },
    actions: {
      head: t('actions'),
      kind: 'actions',
      cell: (user) => <UserActions user={user} onAction={(action) => onAction(action, user)} />,
    },
  }
  return useColumns('users', USERS_FIELDS, drawn, ['apiCallsCount', 'maxApiCalls'])
}
