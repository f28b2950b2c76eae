import { getRouteApi } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { USERS_ORDERS } from '../../generated/conditions.ts'
import { UserListDocument, UserTotalDocument } from '../../generated/graphql.ts'
import { ForAdmins, ListPage, useAddress } from '../../lists/list-page.tsx'
import { NEWEST_FIRST, orderOf, orderText } from '../../lists/order.ts'
import { QueriedList } from '../../lists/paged-list.tsx'
import { Button } from '../../ui/button.tsx'
import { CreateUserDialog } from './create-user-dialog.tsx'
import { EditUserDialog } from './edit-user-dialog.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { StatusDialog } from './status-dialog.tsx'
import { lowerCase, type UserAction, type UserRecord } from './user-record.ts'
import { UserTable } from './user-table.tsx'
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
