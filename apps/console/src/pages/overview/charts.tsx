import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink, tookAtLeast } from '../../charts/calls-link.ts'
import { callsSeries } from '../../charts/calls-series.ts'
import { ChartCard } from '../../charts/chart-card.tsx'
import type { ChartData, Percentile } from '../../charts/chart-data.ts'
import { PercentileChoice } from '../../charts/percentile-choice.tsx'
import type { OverviewQuery } from '../../generated/graphql.ts'

type Report = NonNullable<OverviewQuery['usage']>

interface ChartsProps {
  readonly report: Report
  readonly percentile: Percentile
  onPercentile(percentile: Percentile): void
  onZoom(from: string, to: string): void
  /** Called when the first chart can be seen. */
  onDrawn(): void
}

/** The calls and their times, hour by hour or day by day. */
export function Charts({ report, percentile, onPercentile, onZoom, onDrawn }: ChartsProps) {
  const t = useTranslations('overview')
  const { points, to, granularity, timezone: zone, totals } = report
  const [calls, times] = useMemo(() => {
    const shared = {
      starts: points.map(({ start }) => start),
      end: to,
      granularity,
      zone,
      linkTo: callsLink(),
    }
    const values = (read: (point: Report['points'][number]) => number | undefined) =>
      points.map((point) => read(point) ?? null)
    const calls: ChartData = {
      ...shared,
      kind: 'bars',
      series: callsSeries(points, { completed: t('completed'), failed: t('failed') }),
    }
    const timesOf = (read: 'firstChunk' | 'duration', colour: `--${string}`) => ({
      name: t(read),
      values: values((point) => point[`${read}Ms`]?.[percentile]),
      overall: totals[`${read}Ms`]?.[percentile],
      colour,
      filterOf: tookAtLeast(`${read}Ms`),
    })
    const times: ChartData = {
      ...shared,
      kind: 'lines',
      series: [timesOf('firstChunk', '--series-2'), timesOf('duration', '--series-3')],
    }
    return [calls, times]
  }, [points, to, granularity, zone, totals, percentile, t])
  const names = { calls: t('callsOverTime'), times: t('timesOverTime') }
  return (
    <>
      <ChartCard title={names.calls} label={names.calls} data={calls} {...{ onZoom, onDrawn }} />
      <ChartCard
        title={names.times}
        label={`${names.times}, ${percentile}`}
        data={times}
        aside={<PercentileChoice value={percentile} onChange={onPercentile} />}
        onZoom={onZoom}
      />
    </>
  )
}
