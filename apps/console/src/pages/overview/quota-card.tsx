import { useId } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { QuotaLeftFragment } from '../../generated/graphql.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import styles from './overview-page.module.css'

/** How many calls the user may still make. */
export function QuotaCard({ quota }: { readonly quota: QuotaLeftFragment }) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const id = useId()
  const { maxApiCalls, apiCallsCount, remaining, quotaPeriod, resetsAt } = quota
  const isUsedUp = remaining === 0
  return (
    <Card title={t('quota')}>
      <div className={classNames(styles.quota, isUsedUp && styles.usedUp)}>
        <p id={id}>
          {isUsedUp ? (
            <strong className={styles.left}>{t('quotaUsedUp')}</strong>
          ) : (
            <>
              <strong className={styles.left}>{formats.count(remaining)}</strong> {t('callsLeft')}
            </>
          )}
        </p>
        {/* A quota of no calls at all is used up as well. */}
        <progress
          aria-labelledby={id}
          max={Math.max(maxApiCalls, 1)}
          value={isUsedUp ? Math.max(maxApiCalls, 1) : apiCallsCount}
        />
        <p className={styles.hint}>
          {t(`quotaUsed.${quotaPeriod}`, {
            used: formats.count(apiCallsCount),
            max: formats.count(maxApiCalls),
          })}
          {resetsAt !== null && <> {t('quotaResets', { at: formats.moment(resetsAt) })}</>}
        </p>
      </div>
    </Card>
  )
}
