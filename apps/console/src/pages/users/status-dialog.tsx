import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { rereadUsers, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

/** Asks before a user is suspended, and says what stops; or gives back what was stopped. */
export function StatusDialog({ user, onClose }: { readonly user: UserRecord; onClose(): void }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const toast = useToast()
  const { username } = user
  const isActive = user.status === 'ACTIVE'
  const change = useMutation({
    mutationFn: () => client.users.update(user.id, { status: isActive ? 'suspended' : 'active' }),
    onSuccess() {
      rereadUsers()
      toast(t(isActive ? 'suspended' : 'activated', { username }))
      onClose()
    },
  })
  return (
    <Dialog title={t(isActive ? 'suspendUser' : 'activateUser', { username })} isOpen onClose={onClose}>
      {change.isError && <ErrorNotice error={change.error} />}
      {isActive ? (
        <div>
          <p>{t('suspendStops')}</p>
          <ul className={styles.stops}>
            <li>{t('suspendLogins')}</li>
            <li>{t('suspendKeys')}</li>
            <li>{t('suspendKeeps')}</li>
          </ul>
        </div>
      ) : (
        <p>{t('activateMeans')}</p>
      )}
      <Actions>
        <Button onClick={onClose}>{common('cancel')}</Button>
        <Button
          look={isActive ? 'danger' : 'primary'}
          isBusy={change.isPending}
          onClick={() => change.mutate()}
        >
          {t(isActive ? 'suspend' : 'activate')}
        </Button>
      </Actions>
    </Dialog>
  )
}
