import { Ban, KeyRound, Pencil, RotateCcw } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Table, time } from '../../ui/table.tsx'
import { lowerCase, type UserAction, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

interface UserTableProps {
  readonly users: readonly UserRecord[]
  onAction(action: UserAction, user: UserRecord): void
}

export function UserTable({ users, onAction }: UserTableProps) {
  const t = useTranslations('users')
  return (
    <Table label={t('title')}>
      <thead>
        <tr>
          <th scope="col">{t('username')}</th>
          <th scope="col">{t('role')}</th>
          <th scope="col">{t('status')}</th>
          <th scope="col">{t('quota')}</th>
          <th scope="col">{t('lastLogin')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <UserRow key={user.id} user={user} onAction={(action) => onAction(action, user)} />
        ))}
      </tbody>
    </Table>
  )
}

function UserRow({ user, onAction }: { readonly user: UserRecord; onAction(action: UserAction): void }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const formats = useFormats()
  const { username } = user
  const isActive = user.status === 'ACTIVE'
  return (
    <tr>
      <th scope="row" className={styles.name}>
        {username}
      </th>
      <td>
        <Badge tone={user.role === 'ADMIN' ? 'accent' : 'neutral'}>
          {common(`roles.${lowerCase(user.role)}`)}
        </Badge>
      </td>
      <td>
        <Badge tone={isActive ? 'ok' : 'danger'}>{t(`statuses.${lowerCase(user.status)}`)}</Badge>
      </td>
      <td>
        <QuotaUse user={user} />
      </td>
      <td className={time}>
        {user.lastLogin === null ? t('neverLoggedIn') : formats.dateTime(user.lastLogin)}
      </td>
      <td>
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
      </td>
    </tr>
  )
}

/** How much of its quota the user has used, in numbers and as a bar. */
function QuotaUse({ user }: { readonly user: UserRecord }) {
  const t = useTranslations('users')
  const formats = useFormats()
  const { apiCallsCount, maxApiCalls, quotaPeriod } = user
  const share = maxApiCalls === 0 ? 1 : Math.min(1, apiCallsCount / maxApiCalls)
  return (
    <div className={styles.quota}>
      <span>
        {t('quotaUsed', { used: formats.count(apiCallsCount), max: formats.count(maxApiCalls) })}{' '}
        <span className={styles.period}>{t(`usedIn.${lowerCase(quotaPeriod)}`)}</span>
      </span>
      <span className={styles.bar} aria-hidden>
        <span
          className={share > 0.9 ? styles.barFull : styles.barPart}
          style={{ inlineSize: `${share * 100}%` }}
        />
      </span>
    </div>
  )
}
