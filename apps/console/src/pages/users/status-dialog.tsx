import { useTranslations } from 'use-intl'
import { client } from '../../session/gateway.ts'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { rereadUsers, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

/** Asks before a user is suspended, and says what stops; or gives back what was stopped. */
export function StatusDialog({ user, onClose }: { readonly user: UserRecord; onClose(): void }) {
  const t = useTranslations('users')
  const toast = useToast()
  const { username } = user
  const isActive = user.status === 'ACTIVE'
  return (
    <Confirm
      title={t(isActive ? 'suspendUser' : 'activateUser', { username })}
      action={t(isActive ? 'suspend' : 'activate')}
      look={isActive ? 'danger' : 'primary'}
      isOpen
      onClose={onClose}
      run={async () => {
        await client.users.update(user.id, { status: isActive ? 'suspended' : 'active' })
        rereadUsers()
        toast(t(isActive ? 'suspended' : 'activated', { username }))
      }}
    >
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
    </Confirm>
  )
}
