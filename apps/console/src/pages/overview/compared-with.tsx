import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { OverviewBeforeQuery } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Badge } from '../../ui/badge.tsx'
import styles from './overview-page.module.css'

interface ComparedWithProps {
  readonly before: OverviewBeforeQuery['usage'] | undefined
  readonly zone: string
  readonly isLive: boolean
}

/** What the numbers are compared with, whose clocks they go by, whether they are live, and the reports beside them. */
export function ComparedWith({ before, zone, isLive }: ComparedWithProps) {
  const t = useTranslations('overview')
  const formats = useFormats(zone)
  const { role } = useSession()
  return (
    <p className={styles.foot}>
      {before != null && before.totals.calls > 0 && (
        <span>{t('comparedWith', { range: formats.range(before.from, before.to) })}</span>
      )}
      <span>{t('zone', { zone })}</span>
      {isLive && <Badge tone="ok">{t('live')}</Badge>}
      <Link to="/usage" search={{ range: 'this_week', compare: true, group: 'key', zone }}>
        {t('reports.weeks')}
      </Link>
      {role === 'admin' && (
        <Link to="/usage" search={{ range: 'last_month', group: 'user', zone }}>
          {t('reports.users')}
        </Link>
      )}
    </p>
  )
}
