import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Card } from '../../../ui/card.tsx'
import { QuotaUse } from '../quota-use.tsx'
import styles from './user.module.css'
import type { UserDetails } from './user-details.ts'

/** How much of the quota is used, and the way to what it was used for. */
export function UserQuota({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users')
  const { moment } = useFormats()
  const { resetsAt } = user.quota
  return (
    <Card
      title={t('page.quota')}
      aside={
        <Link to="/usage" search={{ user: user.id, range: '30d', group: 'key' }}>
          {t('page.toUsage')}
        </Link>
      }
    >
      <div className={styles.quota}>
        <QuotaUse user={user} />
        {resetsAt !== null && <p>{t('page.resets', { at: moment(resetsAt) })}</p>}
      </div>
    </Card>
  )
}
