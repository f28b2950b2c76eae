import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import { callsSeries } from '../../charts/calls-series.ts'
import type { ChartData } from '../../charts/chart-data.ts'
import { Count } from '../../charts/count.tsx'
import { SeriesTable } from '../../charts/series-table.tsx'
import { TimeChart } from '../../charts/time-chart.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { type KeyFieldsFragment, UsageReportDocument } from '../../generated/graphql.ts'
import { startOfDay, startOfMonth } from '../../report/zone.ts'
import { client } from '../../session/gateway.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Disclosure } from '../../ui/disclosure.tsx'
import { ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { usageSearch } from '../usage/usage-search.ts'
import { usageVariables } from '../usage/usage-variables.ts'
import styles from './keys.module.css'
import { rereadKey } from './reread-key.ts'

interface KeyUseProps {
  readonly apiKey: KeyFieldsFragment
  readonly mayReset: boolean
}

/** How much a key was called: its counters, each of which can be set to zero, and the last weeks as a chart. */
export function KeyUse({ apiKey, mayReset }: KeyUseProps) {
  const t = useTranslations('keys')
  const formats = useFormats()
  const toast = useToast()
  // Others do not see what the owner of a key calls.
  const { role, userId } = useSession()
  const [asked, setAsked] = useState<{ period: 'day' | 'month' | 'total'; label: string }>()
  const [isAsking, setAsking] = useState(false)
  const { callsToday, callsThisMonth, totalCalls, lastUsedAt } = apiKey.usage
  // The counters restart with the days and months of UTC.
  const now = new Date()
  const counters = [
    {
      period: 'day',
      label: t('today'),
      count: callsToday,
      since: { from: startOfDay(now, 'UTC').toISOString() },
    },
    {
      period: 'month',
      label: t('month'),
      count: callsThisMonth,
      since: { from: startOfMonth(now, 'UTC').toISOString() },
    },
    { period: 'total', label: t('total'), count: totalCalls, since: { range: 'all' } },
  ] as const
  return (
    <Card
      title={t('key.use')}
      aside={
        <span className={styles.links}>
          <Link to="/usage" search={{ key: apiKey.id }}>
            {t('key.report')}
          </Link>
          <Link to="/calls" search={{ key: apiKey.id, range: 'all' }}>
            {t('key.calls')}
          </Link>
        </span>
      }
    >
      <div className={styles.counters}>
        {counters.map(({ period, label, count, since }) => (
          <div key={period} className={styles.counter}>
            <span>{label}</span>
            <strong>
              <Count value={count} link={{ to: '/calls', search: { key: apiKey.id, ...since } }} />
            </strong>
            {mayReset && (
              <Button
                look="quiet"
                disabled={count === 0}
                aria-label={`${t('key.reset')}: ${label}`}
                onClick={() => {
                  setAsked({ period, label })
                  setAsking(true)
                }}
              >
                {t('key.reset')}
              </Button>
            )}
          </div>
        ))}
        <div className={styles.counter}>
          <span>{t('lastUsed')}</span>
          <span>{lastUsedAt === null ? t('never') : formats.moment(lastUsedAt)}</span>
        </div>
      </div>
      {(role === 'admin' || apiKey.ownerId === userId) && <KeyChart id={apiKey.id} />}
      <Confirm
        title={t('key.resetTitle', { counter: asked?.label ?? '' })}
        action={t('key.reset')}
        look="primary"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        run={async () => {
          if (asked !== undefined) await client.apiKeys.resetUsage(apiKey.id, { period: asked.period })
          await rereadKey()
          toast(t('key.resetDone'))
        }}
      >
        {t('key.resetHint')}
      </Confirm>
    </Card>
  )
}

/** The calls of a key in the last 30 days, day by day: what the page of the usage first shows of it. */
function KeyChart({ id }: { readonly id: string }) {
  const t = useTranslations('keys.key')
  const charts = useTranslations('charts')
  const names = useTranslations('overview')
  const variables = usageVariables(usageSearch({ key: id, range: '30d' }), new Date())
  const { data, error, refetch } = useQuery(graphqlQuery(UsageReportDocument, variables))
  const report = data?.usage ?? undefined
  const drawn = useMemo<ChartData | undefined>(
    () =>
      report && {
        starts: report.points.map(({ start }) => start),
        end: report.to,
        granularity: report.granularity,
        zone: report.timezone,
        linkTo: callsLink({ key: id }),
        kind: 'bars',
        series: callsSeries(report.points, { completed: names('completed'), failed: names('failed') }),
      },
    [report, id, names],
  )
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  if (drawn === undefined) return <Loading shape="chart" />
  return (
    <>
      <TimeChart label={t('over')} data={drawn} />
      <Disclosure label={charts('asTable')}>
        <SeriesTable label={t('over')} data={drawn} />
      </Disclosure>
    </>
  )
}
