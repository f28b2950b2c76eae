import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
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
  const { points, to, granularity, timezone: zone } = report
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
        },
        {
          name: t('failed'),
          values: values((point) => point.failedCalls),
          colour: '--danger',
          filter: { outcome: 'FAILED' },
        },
      ],
    }
    const times: ChartData = {
      ...shared,
      kind: 'lines',
      series: [
        {
          name: t('firstChunkP50'),
          values: values((point) => point.firstChunkMs?.p50),
          colour: '--series-2',
        },
        {
          name: t('firstChunkP95'),
          values: values((point) => point.firstChunkMs?.p95),
          colour: '--series-2',
          isDashed: true,
        },
        { name: t('durationP50'), values: values((point) => point.durationMs?.p50), colour: '--series-3' },
        {
          name: t('durationP95'),
          values: values((point) => point.durationMs?.p95),
          colour: '--series-3',
          isDashed: true,
        },
      ],
    }
    return [calls, times]
  }, [points, to, granularity, zone, t])
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
