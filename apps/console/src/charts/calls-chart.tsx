import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import type { UsageGranularity } from '../generated/graphql.ts'
import { Disclosure } from '../ui/disclosure.tsx'
import { callsLink } from './calls-link.ts'
import type { ChartData } from './chart-data.ts'
import { SeriesTable } from './series-table.tsx'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

interface CallsChartProps extends Pick<TimeChartProps, 'label' | 'onZoom' | 'onDrawn'> {
  readonly report: {
    readonly points: readonly {
      readonly start: string
      readonly calls: number
      readonly failedCalls: number
    }[]
    readonly to: string
    readonly granularity: UsageGranularity
    readonly timezone: string
  }
  /** The key whose calls these are; undefined for those of all keys. */
  readonly keyId?: string
}

/** The calls of a report, and how many of them failed, as bars and as a table. */
export function CallsChart({ report, keyId, label, ...rest }: CallsChartProps) {
  const t = useTranslations('charts')
  const names = useTranslations('overview')
  const formats = useFormats()
  const { points, to, granularity, timezone: zone } = report
  const data = useMemo<ChartData>(
    () => ({
      starts: points.map(({ start }) => start),
      end: to,
      granularity,
      zone,
      linkTo: callsLink(keyId === undefined ? {} : { key: keyId }),
      kind: 'bars',
      series: [
        {
          name: names('completed'),
          values: points.map(({ calls, failedCalls }) => calls - failedCalls),
          colour: '--series-1',
          filterOf: () => ({ outcome: 'NOT_FAILED' }),
        },
        {
          name: names('failed'),
          values: points.map(({ failedCalls }) => failedCalls),
          colour: '--danger',
          filterOf: () => ({ outcome: 'FAILED' }),
        },
      ],
    }),
    [points, to, granularity, zone, keyId, names],
  )
  return (
    <>
      <TimeChart {...{ label, data }} format={formats.count} formatAxis={formats.compact} {...rest} />
      <Disclosure label={t('asTable')}>
        <SeriesTable {...{ label, data }} format={formats.count} />
      </Disclosure>
    </>
  )
}
