import { callsLink, tookAtLeast } from '../../charts/calls-link.ts'
import type { ChartData, ChartSeries, RecordFilter, RecordsLink } from '../../charts/chart-data.ts'
import type { MetricPointFragment, UsageReportQuery } from '../../generated/graphql.ts'
import { groupFilter } from './group-names.ts'
import type { UsageSearch } from './usage-search.ts'

export type Report = NonNullable<UsageReportQuery['usage']>
type Shown = Pick<UsageSearch, 'show' | 'percentile'>

/** The report of a response, without the period before if nobody called in it, so that there is nothing to compare with. */
export function comparable({ usage }: UsageReportQuery): Report | undefined {
  return usage?.previous?.totals.calls === 0 ? { ...usage, previous: null } : (usage ?? undefined)
}

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
  readonly before: string
}

const COLOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `--series-${number}` as const)
const OTHERS = '--series-8'
const BEFORE = '--line-strong' as const

/**
 * The chart of a report. Counts are stacked by group, and what is not of the groups with the most is the last layer, so that
 * the bars reach to the sum. Times cannot be added: there is a line of one percentile, or one for each group.
 */
export function chartOf(report: Report, shown: Shown, names: SeriesNames, ways: Ways): ChartData {
  const { points, to, granularity, timezone, groupBy } = report
  return {
    starts: points.map(({ start }) => start),
    end: to,
    granularity,
    zone: timezone,
    kind: timeOf(shown) === undefined ? 'bars' : 'lines',
    series:
      groupBy.length > 0 ? groupsOf(report, shown, names, ways) : [seriesOf(report, shown, names.drawn[0])],
    linkTo: callsLink({ ...ways.common, ...(shown.show === 'failures' && { outcome: 'FAILED' }) }),
    ...beforeOf(report, shown, names),
  }
}

/** The period before, unless there is nothing of it to draw. */
function beforeOf(
  { groupBy, previous }: Report,
  shown: Shown,
  names: SeriesNames,
): Pick<ChartData, 'before'> {
  const isTime = timeOf(shown) !== undefined
  // Beside the lines of groups, that of all calls would say nothing, and one for each too much; the table has each.
  if (previous == null || (isTime && groupBy.length > 0)) return {}
  const series = { ...seriesOf(previous, shown, names.before), colour: BEFORE, isDashed: isTime }
  if (series.values.every((value) => !value)) return {}
  return { before: { starts: previous.points.map(({ start }) => start), end: previous.to, series: [series] } }
}

function groupsOf(report: Report, shown: Shown, names: SeriesNames, ways: Ways): ChartSeries[] {
  const { points, drawn = [], groupCount } = report
  const read = (point: MetricPointFragment) => valueAt(point, shown)
  const layers = drawn.map((group, place) => ({
    name: names.drawn[place] ?? '',
    values: group.points.map(read),
    colour: COLOURS[place] ?? OTHERS,
    filterOf: () => groupFilter(group),
  }))
  if (timeOf(shown) !== undefined || groupCount <= drawn.length) return layers
  const rest = points.map((point, index) =>
    layers.reduce((left, { values }) => left - (values[index] ?? 0), read(point) ?? 0),
  )
  return [...layers, { name: names.others, values: rest, colour: OTHERS, link: ways.toGroups }]
}

/** All calls of a time together. */
function seriesOf(
  { points, totals }: Pick<Report, 'points' | 'totals'>,
  shown: Shown,
  name = '',
): ChartSeries {
  const time = timeOf(shown)
  return {
    name,
    values: points.map((point) => valueAt(point, shown)),
    colour: '--series-1',
    overall: time && totals[time]?.[shown.percentile],
    filterOf: time === undefined ? () => ({}) : tookAtLeast(time),
  }
}

/** What was read for another metric is not there. */
function valueAt(point: MetricPointFragment, shown: Shown): number | null {
  const time = timeOf(shown)
  if (time !== undefined) return point[time]?.[shown.percentile] ?? null
  if (shown.show === 'tokens') return point.totalTokens ?? null
  return (shown.show === 'failures' ? point.failedCalls : point.calls) ?? null
}

function timeOf({ show }: Shown) {
  return show === 'firstChunk' || show === 'duration' ? (`${show}Ms` as const) : undefined
}
