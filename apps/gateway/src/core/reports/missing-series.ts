import type { Report, Series } from './reports.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

/** The series of a report that the one it is compared with has alone, with the numbers that they have there. */
export function missingSeries(report: Report, compared: Report): Series[] {
  const known = new Set(report.series.map(({ group }) => JSON.stringify(group)))
  return compared.series.filter(({ group }) => !known.has(JSON.stringify(group)))
}

/** A series as a report has it in which it had no calls. */
export function withoutCalls({ points }: Pick<Report, 'points'>, { group }: Series): Series {
  return { group, totals: NOTHING, points: points.map(({ start }) => ({ start, ...NOTHING })) }
}

/** A report that has every series of both. */
export function withMissingSeries(report: Report, compared: Report): Report {
  const missing = missingSeries(report, compared).map((series) => withoutCalls(report, series))
  return { ...report, series: [...report.series, ...missing] }
}

const NOTHING = new UsageAccumulator().metrics()
