import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { OverviewBeforeQuery } from '../../generated/graphql.ts'
import { Badge } from '../../ui/badge.tsx'
import styles from './overview-page.module.css'

interface ComparedWithProps {
  readonly before: OverviewBeforeQuery['usage'] | undefined
  readonly zone: string
  readonly isLive: boolean
}

/** What the numbers are compared with, whose clocks they go by, and whether they are live. */
export function ComparedWith({ before, zone, isLive }: ComparedWithProps) {
  const t = useTranslations('overview')
  const formats = useFormats(zone)
  return (
    <p className={styles.foot}>
      {before !== undefined && before !== null && (
        <span>{t('comparedWith', { range: formats.range(before.from, before.to) })}</span>
      )}
      <span>{t('zone', { zone })}</span>
      {isLive && <Badge tone="ok">{t('live')}</Badge>}
    </p>
  )
}
