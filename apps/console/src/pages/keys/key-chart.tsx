import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import { callsSeries } from '../../charts/calls-series.ts'
import type { ChartData } from '../../charts/chart-data.ts'
import { SeriesTable } from '../../charts/series-table.tsx'
import { TimeChart } from '../../charts/time-chart.tsx'
import { UsageReportDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Disclosure } from '../../ui/disclosure.tsx'
import { ErrorNotice, Loading } from '../../ui/notice.tsx'
import { usageSearch } from '../usage/usage-search.ts'
import { usageVariables } from '../usage/usage-variables.ts'

/** The calls of a key in the last 30 days, day by day: what the page of the usage first shows of it. */
export function KeyChart({ id }: { readonly id: string }) {
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
