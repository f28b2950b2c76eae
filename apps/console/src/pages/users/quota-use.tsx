import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { lowerCase, type UserRecord } from './user-record.ts'
import styles from './users-page.module.css'

type Quota = Pick<UserRecord, 'apiCallsCount' | 'maxApiCalls' | 'quotaPeriod'>

/** How much of its quota a user has used, in numbers and as a bar. One that is used up looks so. */
export function QuotaUse({ user: { apiCallsCount, maxApiCalls, quotaPeriod } }: { readonly user: Quota }) {
  const t = useTranslations('users')
  const formats = useFormats()
  const share = maxApiCalls === 0 ? 1 : Math.min(1, apiCallsCount / maxApiCalls)
  return (
    <div className={styles.quota}>
      <span className={styles.used}>
        {t('quotaUsed', { used: formats.count(apiCallsCount), max: formats.count(maxApiCalls) })}{' '}
        <span className={styles.period}>{t(`usedIn.${lowerCase(quotaPeriod)}`)}</span>
        {share === 1 && <Badge tone="danger">{t('usedUp')}</Badge>}
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
