import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { Cards } from '../../../ui/card.tsx'
import { Page } from '../../../ui/page.tsx'
import { EditUserDialog } from '../edit-user-dialog.tsx'
import { PasswordDialog } from '../password-dialog.tsx'
import { StatusDialog } from '../status-dialog.tsx'
import type { UserAction } from '../user-record.ts'
import type { UserDetails } from './user-details.ts'
import { UserFacts } from './user-facts.tsx'
import { UserLists } from './user-lists.tsx'
import { UserQuota } from './user-quota.tsx'

interface LoadedUserProps {
  readonly user: UserDetails
  /** Why it could not be read again. */
  readonly notice: ReactNode
}

export function LoadedUser({ user, notice }: LoadedUserProps) {
  const t = useTranslations('users')
  const [open, setOpen] = useState<UserAction>()
  const close = () => setOpen(undefined)
  const isActive = user.status === 'ACTIVE'
  return (
    <Page
      title={user.username}
      lead={t('page.lead')}
      actions={
        <>
          <Button onClick={() => setOpen('edit')}>{t('page.edit')}</Button>
          <Button onClick={() => setOpen('password')}>{t('setPassword')}</Button>
          <Button look={isActive ? 'danger' : 'plain'} onClick={() => setOpen('status')}>
            {t(isActive ? 'suspend' : 'activate')}
          </Button>
        </>
      }
    >
      {notice}
      <Cards>
        <UserFacts user={user} />
        <UserQuota user={user} />
      </Cards>
      <UserLists user={user} />
      {open === 'edit' && <EditUserDialog user={user} onClose={close} />}
      {open === 'password' && <PasswordDialog user={user} onClose={close} />}
      {open === 'status' && <StatusDialog user={user} onClose={close} />}
    </Page>
  )
}
