import { type Report, type ReportGroup, requireFewPoints } from './reports.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

/** The groups that only the compared report has, with its numbers. */
export function missingGroups(report: Report, compared: Report): ReportGroup[] {
  const known = new Set(report.groups.map(({ group }) => JSON.stringify(group)))
  return compared.groups.filter(({ group }) => !known.has(JSON.stringify(group)))
}

/** The same groups in a report in which they had no calls. They share one list of points, which may be long. */
export function withoutCalls(
  { points }: Pick<Report, 'points'>,
  groups: readonly ReportGroup[],
): ReportGroup[] {
  const empty = points.map(({ start }) => ({ start, ...NOTHING }))
  return groups.map(({ group }) => ({ group, totals: NOTHING, points: empty }))
}

/**
 * A report that has every group of both.
 *
 * @throws Problem `invalid_request` if that has too many points: the other report may have more groups, in a shorter time
 */
export function withMissingGroups(report: Report, compared: Report): Report {
  const groups = [...report.groups, ...withoutCalls(report, missingGroups(report, compared))]
  requireFewPoints(groups.length, report.points.length)
  return { ...report, groups }
}

const NOTHING = new UsageAccumulator().metrics()
