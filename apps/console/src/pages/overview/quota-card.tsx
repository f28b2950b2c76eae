import { useId } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { QuotaLeftFragment } from '../../generated/graphql.ts'
import { Card } from '../../ui/card.tsx'
import styles from './overview-page.module.css'

/** How many calls the user may still make. */
export function QuotaCard({ quota }: { readonly quota: QuotaLeftFragment }) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const id = useId()
  const { maxApiCalls, apiCallsCount, remaining, quotaPeriod, resetsAt } = quota
  return (
    <Card title={t('quota')}>
      <div className={styles.quota}>
        <p id={id}>
          <strong className={styles.left}>{formats.count(remaining)}</strong> {t('callsLeft')}
        </p>
        <progress
          aria-labelledby={id}
          max={Math.max(maxApiCalls, 1)}
          value={Math.min(apiCallsCount, maxApiCalls)}
        />
        <p className={styles.hint}>
          {t(`quotaUsed.${quotaPeriod}`, {
            used: formats.count(apiCallsCount),
            max: formats.count(maxApiCalls),
          })}
          {resetsAt !== null && <> {t('quotaResets', { at: formats.dateTime(resetsAt) })}</>}
        </p>
      </div>
    </Card>
  )
}
