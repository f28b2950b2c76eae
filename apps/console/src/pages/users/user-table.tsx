import { Link } from '@tanstack/react-router'
import { Ban, KeyRound, Pencil, RotateCcw } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import type { UserOrder } from '../../generated/graphql.ts'
import type { ListTableProps } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { QuotaUse } from './quota-use.tsx'
import { lowerCase, type UserAction, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

interface UserTableProps extends Pick<ListTableProps<UserRecord, UserOrder>, 'rows' | 'order' | 'onOrder'> {
  onAction(action: UserAction, user: UserRecord): void
}

export function UserTable({ onAction, ...table }: UserTableProps) {
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
export function UserActions({ user: { username, status }, onAction }: UserActionsProps) {
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
