import { Link } from '@tanstack/react-router'
import { ChevronRight, CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { OverviewBeforeQuery, OverviewQuery } from '../../../generated/graphql.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { type Concern, failureConcerns, slowConcerns } from './concerns.ts'
import styles from './health.module.css'
import { useHealth } from './use-health.ts'

export interface HealthCardProps {
  /** The report of the overview. */
  readonly report: NonNullable<OverviewQuery['usage']>
  /** That of the period before; absent until it has been read. */
  readonly before: OverviewBeforeQuery['usage'] | undefined
}

/** Whether everything is well, for administrators: what they should look at, each with the way to it, or that there is nothing. */
export function HealthCard({ report, before }: HealthCardProps) {
  const t = useTranslations('health')
  const common = useTranslations('common')
  const { about } = useFormats()
  const { concerns, isPending, failed, retry } = useHealth()
  const { totals, from, to } = report
  const all = [
    ...failureConcerns(totals, before?.totals, { from, to }),
    ...slowConcerns(report, before ?? undefined, about),
    ...concerns,
  ].sort(byTone)
  const isWell = all.length === 0 && failed.length === 0 && !isPending
  return (
    <section className={styles.card} aria-label={t('title')} aria-busy={isPending}>
      {isWell && (
        <p className={styles.line}>
          <CircleCheck className={styles.ok} aria-hidden />
          <strong>{t('well')}</strong>
          <span className={styles.hint}>{t('wellHint')}</span>
        </p>
      )}
      {isPending && all.length === 0 && <p className={styles.line}>{t('checking')}</p>}
      {all.length > 0 && (
        <ul>
          {all.map((concern) => (
            <li key={`${concern.kind} ${concern.days}`}>
              <ConcernLine concern={concern} />
            </li>
          ))}
        </ul>
      )}
      {failed.length > 0 && (
        <p className={styles.line}>
          <TriangleAlert className={styles.warn} aria-hidden />
          {t('failed', { parts: failed.map((part) => t(`parts.${part}`)).join(t('separator')) })}
          <Button onClick={retry}>{common('tryAgain')}</Button>
        </p>
      )}
    </section>
  )
}

const byTone = (one: Concern, other: Concern) => one.tone.localeCompare(other.tone)

function ConcernLine({ concern }: { readonly concern: Concern }) {
  const t = useTranslations('health')
  const formats = useFormats()
  const { kind, tone, count, isMore, days, names, way } = concern
  const Icon = tone === 'danger' ? CircleAlert : TriangleAlert
  const hasMore = isMore === true || count > names.length
  return (
    <Link {...way} className={classNames(styles.line, styles.link)}>
      <Icon className={styles[tone]} aria-hidden />
      <strong>
        {t(`concerns.${kind}`, {
          count,
          number: isMore === true ? `${formats.count(count)}+` : formats.count(count),
          days: days ?? 0,
        })}
      </strong>
      {names.length > 0 && (
        <span className={styles.hint}>
          {names.join(t('separator'))}
          {hasMore && '…'}
        </span>
      )}
      <ChevronRight className={styles.more} aria-hidden />
    </Link>
  )
}
