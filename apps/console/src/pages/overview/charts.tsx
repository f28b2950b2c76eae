import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink, tookAtLeast } from '../../charts/calls-link.ts'
import type { ChartData } from '../../charts/chart-data.ts'
import { SeriesTable } from '../../charts/series-table.tsx'
import { TimeChart } from '../../charts/time-chart.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { OverviewQuery } from '../../generated/graphql.ts'
import { Card } from '../../ui/card.tsx'
import { Disclosure } from '../../ui/disclosure.tsx'
import styles from './overview-page.module.css'

type Report = NonNullable<OverviewQuery['usage']>

interface ChartsProps {
  readonly report: Report
  onZoom(from: string, to: string): void
  /** Called when the first chart can be seen. */
  onDrawn(): void
}

/** The calls and their times, hour by hour or day by day. */
export function Charts({ report, onZoom, onDrawn }: ChartsProps) {
  const t = useTranslations('overview')
  const charts = useTranslations('charts')
  const formats = useFormats()
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
      series: [
        {
          name: t('completed'),
          values: values((point) => point.calls - point.failedCalls),
          colour: '--series-1',
          filterOf: () => ({ outcome: 'NOT_FAILED' }),
        },
        {
          name: t('failed'),
          values: values((point) => point.failedCalls),
          colour: '--danger',
          filterOf: () => ({ outcome: 'FAILED' }),
        },
      ],
    }
    const timesOf = (name: string, read: 'firstChunkMs' | 'durationMs', quantile: 'p50' | 'p95') => ({
      name,
      values: values((point) => point[read]?.[quantile]),
      overall: totals[read]?.[quantile],
      colour: read === 'firstChunkMs' ? ('--series-2' as const) : ('--series-3' as const),
      isDashed: quantile === 'p95',
      filterOf: tookAtLeast(read),
    })
    const times: ChartData = {
      ...shared,
      kind: 'lines',
      series: [
        timesOf(t('firstChunkP50'), 'firstChunkMs', 'p50'),
        timesOf(t('firstChunkP95'), 'firstChunkMs', 'p95'),
        timesOf(t('durationP50'), 'durationMs', 'p50'),
        timesOf(t('durationP95'), 'durationMs', 'p95'),
      ],
    }
    return [calls, times]
  }, [points, to, granularity, zone, totals, t])
  return (
    <div className={styles.charts}>
      <Card title={t('callsOverTime')}>
        <TimeChart
          label={t('callsOverTime')}
          data={calls}
          format={formats.count}
          formatAxis={formats.compact}
          {...{ onZoom, onDrawn }}
        />
        <Disclosure label={charts('asTable')}>
          <SeriesTable label={t('callsOverTime')} data={calls} format={formats.count} />
        </Disclosure>
      </Card>
      <Card title={t('timesOverTime')}>
        <TimeChart
          label={t('timesOverTime')}
          data={times}
          format={formats.about}
          formatAxis={formats.duration}
          onZoom={onZoom}
        />
        <Disclosure label={charts('asTable')}>
          <SeriesTable label={t('timesOverTime')} data={times} format={formats.about} />
        </Disclosure>
      </Card>
    </div>
  )
}
