import { getRouteApi, Link } from '@tanstack/react-router'
import { Ban, KeyRound, Pencil, RotateCcw, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { USERS_ORDERS } from '../../generated/conditions.ts'
import { UserListDocument, type UserOrder, UserTotalDocument } from '../../generated/graphql.ts'
import { ForAdmins, ListPage, useAddress } from '../../lists/list-page.tsx'
import type { ListTableProps } from '../../lists/list-table.tsx'
import { NEWEST_FIRST, orderOf, orderText } from '../../lists/order.ts'
import { QueriedList } from '../../lists/paged-list.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CreateUserDialog } from './create-user-dialog.tsx'
import { EditUserDialog } from './edit-user-dialog.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { QuotaUse } from './quota-use.tsx'
import { StatusDialog } from './status-dialog.tsx'
import { lowerCase, type UserAction, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'
import { USER_CONDITIONS } from './users-search.ts'

interface Open {
  readonly action: UserAction
  readonly user: UserRecord
}

const route = getRouteApi('/shell/users')

/** The users of the gateway, for administrators. */
export function UsersPage() {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const [isCreating, setCreating] = useState(false)
  const [search, onChange] = useAddress(route)
  const order = orderOf(search.order, USERS_ORDERS) ?? NEWEST_FIRST
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <ForAdmins of="users">
      <ListPage
        of="users"
        conditions={USER_CONDITIONS}
        {...{ search, onChange }}
        usual={{
          role: { textOf: (role) => common(`roles.${lowerCase(role)}`) },
          status: { textOf: (status) => t(`statuses.${lowerCase(status)}`) },
          quota: {
            label: t('quotaShare'),
            options: ['50', '80', '100'],
            textOf: (percent) => (percent === '100' ? t('quotaAll') : t('quotaFrom', { percent })),
          },
        }}
        actions={
          <Button look="primary" onClick={() => setCreating(true)}>
            <UserPlus aria-hidden />
            {t('create')}
          </Button>
        }
      >
        {(filter) => (
          <QueriedList
            of="users"
            document={UserListDocument}
            total={UserTotalDocument}
            filter={filter}
            order={{ orderBy: order.field, order: order.direction }}
          >
            {(users) => (
              <UserTable
                rows={users}
                order={order}
                onOrder={(chosen) => onChange({ order: orderText(chosen) })}
                onAction={(action, user) => setOpen({ action, user })}
              />
            )}
          </QueriedList>
        )}
      </ListPage>
      {isCreating && <CreateUserDialog onClose={() => setCreating(false)} />}
      {open?.action === 'edit' && <EditUserDialog user={open.user} onClose={close} />}
      {open?.action === 'password' && <PasswordDialog user={open.user} onClose={close} />}
      {open?.action === 'status' && <StatusDialog user={open.user} onClose={close} />}
    </ForAdmins>
  )
}

interface UserTableProps extends Pick<ListTableProps<UserRecord, UserOrder>, 'rows' | 'order' | 'onOrder'> {
  onAction(action: UserAction, user: UserRecord): void
}

function UserTable({ onAction, ...table }: UserTableProps) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  return (
    <RowTable
      of="users"
      {...table}
      keyOf={({ id }) => id}
      within={['apiCallsCount', 'maxApiCalls']}
      columns={{
        username: {
          order: { field: 'USERNAME', direction: 'ASC' },
          cell: ({ id, username }) => (
            <Link to="/users/$id" params={{ id }} title={username}>
              {username}
            </Link>
          ),
        },
        status: {
          kind: 'state',
          cell: ({ status }) => (
            <Badge tone={status === 'ACTIVE' ? 'ok' : 'danger'}>{t(`statuses.${lowerCase(status)}`)}</Badge>
          ),
        },
        quota: {
          order: { field: 'QUOTA_USED', direction: 'DESC' },
          cell: (user) => <QuotaUse user={user} />,
        },
        role: ({ role }) => (
          <Badge tone={role === 'ADMIN' ? 'accent' : 'neutral'}>{common(`roles.${lowerCase(role)}`)}</Badge>
        ),
        lastLogin: {
          order: { field: 'LAST_LOGIN', direction: 'DESC' },
          cell: ({ lastLogin }) => (lastLogin === null ? t('neverLoggedIn') : <Moment at={lastLogin} />),
        },
        createdAt: {
          order: { field: 'CREATED_AT', direction: 'DESC' },
          cell: ({ createdAt }) => <Moment at={createdAt} as="date" />,
        },
        actions: {
          kind: 'actions',
          cell: (user) => <UserActions user={user} onAction={(action) => onAction(action, user)} />,
        },
      }}
    />
  )
}

interface UserActionsProps {
  readonly user: UserRecord
  onAction(action: UserAction): void
}

/** What can be done with a user, as buttons in its row. */
function UserActions({ user: { username, status }, onAction }: UserActionsProps) {
  const t = useTranslations('users')
  const isActive = status === 'ACTIVE'
  return (
    <div className={styles.actions}>
      <IconButton label={t('editUser', { username })} onClick={() => onAction('edit')}>
        <Pencil aria-hidden />
      </IconButton>
      <IconButton label={t('setPasswordOf', { username })} onClick={() => onAction('password')}>
        <KeyRound aria-hidden />
      </IconButton>
      <IconButton
        label={t(isActive ? 'suspendUser' : 'activateUser', { username })}
        onClick={() => onAction('status')}
      >
        {isActive ? <Ban aria-hidden /> : <RotateCcw aria-hidden />}
      </IconButton>
    </div>
  )
}
