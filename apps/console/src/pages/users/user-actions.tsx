import { Ban, KeyRound, Pencil, RotateCcw } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../../ui/button.tsx'
import type { UserAction, UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

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
