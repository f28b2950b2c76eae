import { getRouteApi } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { CreateUserDialog } from './create-user-dialog.tsx'
import { EditUserDialog } from './edit-user-dialog.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { StatusDialog } from './status-dialog.tsx'
import type { UserAction, UserRecord } from './user-record.ts'
import { UsersFilters } from './users-filters.tsx'
import { UsersList } from './users-list.tsx'
import type { UsersSearch } from './users-search.ts'

interface Open {
  readonly action: UserAction
  readonly user: UserRecord
}

const route = getRouteApi('/shell/users')

/** The users of the gateway, for administrators. */
export function UsersPage() {
  const t = useTranslations('users')
  const { role } = useSession()
  const [isCreating, setCreating] = useState(false)
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: UsersSearch) => void navigate({ search: { ...search, ...changed }, replace: true })
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  if (role !== 'admin')
    return (
      <Page title={t('title')}>
        <Notice tone="info">{t('adminsOnly')}</Notice>
      </Page>
    )
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        <Button look="primary" onClick={() => setCreating(true)}>
          <UserPlus aria-hidden />
          {t('create')}
        </Button>
      }
    >
      <UsersFilters search={search} onChange={change} />
      <UsersList search={search} onChange={change} onAction={(action, user) => setOpen({ action, user })} />
      {isCreating && <CreateUserDialog onClose={() => setCreating(false)} />}
      {open?.action === 'edit' && <EditUserDialog user={open.user} onClose={close} />}
      {open?.action === 'password' && <PasswordDialog user={open.user} onClose={close} />}
      {open?.action === 'status' && <StatusDialog user={open.user} onClose={close} />}
    </Page>
  )
}
