import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { UserListDocument } from '../../generated/graphql.ts'
import { graphqlPages } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice.tsx'
import { Page, Toolbar } from '../../ui/page.tsx'
import { CreateUserDialog } from './create-user-dialog.tsx'
import { EditUserDialog } from './edit-user-dialog.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { StatusDialog } from './status-dialog.tsx'
import type { UserAction, UserRecord } from './user-record.ts'
import { UserTable } from './user-table.tsx'

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
  const { search = '' } = route.useSearch()
  const navigate = route.useNavigate()
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
      <Toolbar label={t('filters')}>
        <TextField
          label={t('search')}
          type="search"
          maxLength={100}
          value={search}
          onChange={({ target }) =>
            void navigate({ search: { search: target.value || undefined }, replace: true })
          }
        />
      </Toolbar>
      <UserList search={search} onAction={(action, user) => setOpen({ action, user })} />
      {isCreating && <CreateUserDialog onClose={() => setCreating(false)} />}
      {open?.action === 'edit' && <EditUserDialog user={open.user} onClose={close} />}
      {open?.action === 'password' && <PasswordDialog user={open.user} onClose={close} />}
      {open?.action === 'status' && <StatusDialog user={open.user} onClose={close} />}
    </Page>
  )
}

interface UserListProps {
  readonly search: string
  onAction(action: UserAction, user: UserRecord): void
}

function UserList({ search, onAction }: UserListProps) {
  const t = useTranslations('users')
  const query = useInfiniteQuery({
    ...graphqlPages(UserListDocument, { search }, ({ users }) => users),
    // The list stays in sight while the next one is searched.
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch } = query
  if (data === undefined)
    return error === null ? <Loading lines={6} /> : <ErrorNotice error={error} retry={refetch} />
  const users = data.pages.flatMap((page) => page.users?.nodes ?? [])
  return (
    <>
      {query.isRefetchError && <ErrorNotice error={error} retry={refetch} />}
      <Card isFlush>
        {users.length === 0 ? <Empty title={t('empty')} /> : <UserTable users={users} onAction={onAction} />}
        <LoadMore query={query} />
      </Card>
    </>
  )
}
