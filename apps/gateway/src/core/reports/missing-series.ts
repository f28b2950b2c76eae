import { type Report, requireFewPoints, type Series } from './reports.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

/** The series of a report that the one it is compared with has alone, with the numbers that they have there. */
export function missingSeries(report: Report, compared: Report): Series[] {
  const known = new Set(report.series.map(({ group }) => JSON.stringify(group)))
  return compared.series.filter(({ group }) => !known.has(JSON.stringify(group)))
}

/** Series as a report has them in which they had no calls. They share their points, of which there may be many. */
export function withoutCalls({ points }: Pick<Report, 'points'>, series: readonly Series[]): Series[] {
  const empty = points.map(({ start }) => ({ start, ...NOTHING }))
  return series.map(({ group }) => ({ group, totals: NOTHING, points: empty }))
}

/**
 * A report that has every series of both.
 *
 * @throws Problem `invalid_request` if that has too many points: the other report may have more groups, in a shorter time
 */
export function withMissingSeries(report: Report, compared: Report): Report {
  const series = [...report.series, ...withoutCalls(report, missingSeries(report, compared))]
  requireFewPoints(series.length, report.points.length)
  return { ...report, series }
}

const NOTHING = new UsageAccumulator().metrics()
