import { callsLink, tookAtLeast } from '../../charts/calls-link.ts'
import type { ChartData, ChartSeries, RecordFilter, RecordsLink } from '../../charts/chart-data.ts'
import type { MetricPointFragment, UsageReportQuery } from '../../generated/graphql.ts'
import { groupFilter } from './group-filter.ts'
import type { Metric } from './usage-search.ts'

export type Report = NonNullable<UsageReportQuery['usage']>
type Quantile = 'p50' | 'p95' | 'p99'

/** To where a chart leads. */
export interface Ways {
  /** What all calls of the chart have in common. */
  readonly common: RecordFilter
  /** To the list of all groups, those that are not drawn among them. */
  readonly toGroups: RecordsLink
}

/** What the series of a chart are called. */
export interface SeriesNames {
  /** The groups that are drawn or, without groups, the metric. */
  readonly drawn: readonly string[]
  readonly others: string
  /** The period before, of all or of one series. */
  before(name?: string): string
}

const COLOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `--series-${number}` as const)
const OTHERS = '--series-8'

/**
 * The chart of a report. Counts are stacked by group, and what is not of the groups with the most is the last layer, so that
 * the bars reach to the sum. Times cannot be added: there are lines of three percentiles, or of the 95th of each group. The sum
 * of the period before, and its percentiles, are dashed lines.
 */
export function chartOf(report: Report, show: Metric, names: SeriesNames, ways: Ways): ChartData {
  const { points, to, granularity, timezone, previous } = report
  const isTime = show === 'firstChunk' || show === 'duration'
  const before = previous == null ? [] : seriesBefore(report.groupBy, previous, show, names)
  return {
    starts: points.map(({ start }) => start),
    end: to,
    granularity,
    zone: timezone,
    kind: isTime ? 'lines' : 'bars',
    series: isTime ? timesOf(report, show, names) : countsOf(report, show, names, ways.toGroups),
    linkTo: callsLink({ ...ways.common, ...(show === 'failures' && { outcome: 'FAILED' }) }),
    ...(previous != null &&
      before.length > 0 && {
        before: { starts: previous.points.map(({ start }) => start), end: previous.to, series: before },
      }),
  }
}

function seriesBefore(
  groupBy: Report['groupBy'],
  previous: NonNullable<Report['previous']>,
  show: Metric,
  names: SeriesNames,
): ChartSeries[] {
  if (show !== 'firstChunk' && show !== 'duration') {
    const values = previous.points.map((point) => countOf(point, show))
    return [{ name: names.before(), values, colour: '--text-2', isDashed: true, filterOf: () => ({}) }]
  }
  // Seven lines and seven more would say nothing; the table has them.
  if (groupBy.length > 0) return []
  return percentiles(previous, show).map((one) => ({ ...one, name: names.before(one.name), isDashed: true }))
}

function countsOf(
  report: Report,
  show: Metric,
  { drawn: names, others }: SeriesNames,
  toGroups: RecordsLink,
): ChartSeries[] {
  const { points, drawn = [], groupBy, groupCount } = report
  const read = (point: MetricPointFragment) => countOf(point, show)
  const sums = points.map(read)
  if (groupBy.length === 0) {
    return [{ name: names[0] ?? '', values: sums, colour: '--series-1', filterOf: () => ({}) }]
  }
  const layers = drawn.map((group, place) => ({
    ...series(names[place], group.points.map(read), place),
    filterOf: () => groupFilter(group),
  }))
  if (groupCount <= drawn.length) return layers
  const rest = sums.map((sum, index) =>
    layers.reduce((left, { values }) => left - (values[index] ?? 0), sum ?? 0),
  )
  return [...layers, { name: others, values: rest, colour: OTHERS, link: toGroups }]
}

function timesOf(report: Report, show: Metric, { drawn: names }: SeriesNames): ChartSeries[] {
  const { drawn = [], groupBy } = report
  if (groupBy.length === 0) return percentiles(report, show)
  return drawn.map((group, place) => ({
    ...series(
      names[place],
      group.points.map((point) => timeOf(point, show, 'p95')),
      place,
    ),
    filterOf: () => groupFilter(group),
  }))
}

function percentiles({ points, totals }: Pick<Report, 'points' | 'totals'>, show: Metric): ChartSeries[] {
  return (['p50', 'p95', 'p99'] as const).map((name, place) => {
    const values = points.map((point) => timeOf(point, show, name))
    const filterOf = tookAtLeast(show === 'firstChunk' ? 'firstChunkMs' : 'durationMs')
    return { ...series(name, values, place), overall: timeOf(totals, show, name) ?? undefined, filterOf }
  })
}

function series(name = '', values: (number | null)[], place: number): ChartSeries {
  return { name, values, colour: COLOURS[place] ?? OTHERS }
}

/** What was read for another metric is not there. */
function countOf(point: MetricPointFragment, show: Metric): number | null {
  if (show === 'tokens') return point.totalTokens ?? null
  return (show === 'failures' ? point.failedCalls : point.calls) ?? null
}

function timeOf(
  point: Pick<MetricPointFragment, 'firstChunkMs' | 'durationMs'>,
  show: Metric,
  quantile: Quantile,
): number | null {
  return (show === 'firstChunk' ? point.firstChunkMs : point.durationMs)?.[quantile] ?? null
}
