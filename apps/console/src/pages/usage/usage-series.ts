import type { ChartData, ChartSeries } from '../../charts/chart-data.ts'
import type { MetricPointFragment, UsageReportQuery } from '../../generated/graphql.ts'
import type { Metric } from './usage-search.ts'

export type Report = NonNullable<UsageReportQuery['usage']>
type Quantile = 'p50' | 'p95' | 'p99'

const COLOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `--series-${number}` as const)
const OTHERS = '--series-8'

/**
 * The chart of a report. Counts are stacked by group, and what is not of the groups with the most is the last layer, so that
 * the bars reach to the sum. Times cannot be added: there are lines of three percentiles, or of the 95th of each group.
 */
export function chartOf(report: Report, show: Metric, names: readonly string[], others: string): ChartData {
  const { points, drawn = [], granularity, timezone } = report
  const shared = { starts: points.map(({ start }) => start), granularity, zone: timezone }
  if (show === 'firstChunk' || show === 'duration') {
    const series = report.groupBy.length === 0 ? percentiles(points, show) : timesOf(drawn, show, names)
    return { ...shared, kind: 'lines', series }
  }
  const read = (point: MetricPointFragment) => countOf(point, show)
  const sums = points.map(read)
  if (report.groupBy.length === 0) {
    return { ...shared, kind: 'bars', series: [{ name: names[0] ?? '', values: sums, colour: '--series-1' }] }
  }
  const layers = drawn.map(({ points }, place) => series(names[place], points.map(read), place))
  if (report.groupCount <= drawn.length) return { ...shared, kind: 'bars', series: layers }
  const rest = sums.map((sum, index) =>
    layers.reduce((left, { values }) => left - (values[index] ?? 0), sum ?? 0),
  )
  return { ...shared, kind: 'bars', series: [...layers, { name: others, values: rest, colour: OTHERS }] }
}

function percentiles(points: readonly MetricPointFragment[], show: Metric): ChartSeries[] {
  return (['p50', 'p95', 'p99'] as const).map((name, place) =>
    series(
      name,
      points.map((point) => timeOf(point, show, name)),
      place,
    ),
  )
}

function timesOf(drawn: NonNullable<Report['drawn']>, show: Metric, names: readonly string[]): ChartSeries[] {
  return drawn.map(({ points }, place) =>
    series(
      names[place],
      points.map((point) => timeOf(point, show, 'p95')),
      place,
    ),
  )
}

function series(name = '', values: (number | null)[], place: number): ChartSeries {
  return { name, values, colour: COLOURS[place] ?? OTHERS }
}

/** What was read for another metric is not there. */
function countOf(point: MetricPointFragment, show: Metric): number | null {
  if (show === 'tokens') return point.totalTokens ?? null
  return (show === 'failures' ? point.failedCalls : point.calls) ?? null
}

function timeOf(point: MetricPointFragment, show: Metric, quantile: Quantile): number | null {
  return (show === 'firstChunk' ? point.firstChunkMs : point.durationMs)?.[quantile] ?? null
}
