import { handled } from '#core/async/handled.ts'
import { queryBefore, type Report, type Series } from '#core/reports/reports.ts'
import { UsageAccumulator, type UsageMetrics } from '#core/reports/usage-accumulator.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { showLimit } from '../serving/show-limit.ts'

interface Previous {
  readonly report: Report
  readonly totals: ReadonlyMap<string, UsageMetrics>
}

const previous = new WeakMap<Report, Promise<Previous>>()

/** The report of the period before, which all fields of a report that need it share. */
export async function previousOf(report: Report, context: GraphqlContext): Promise<Report> {
  return (await readPrevious(report, context)).report
}

/** The totals of a group in the period before. */
export async function previousTotalsOf(
  report: Report,
  { group }: Series,
  context: GraphqlContext,
): Promise<UsageMetrics> {
  return (await readPrevious(report, context)).totals.get(JSON.stringify(group)) ?? NOTHING
}

function readPrevious(report: Report, context: GraphqlContext): Promise<Previous> {
  const known = handled(previous.get(report) ?? read(report, context))
  previous.set(report, known)
  return known
}

async function read(report: Report, context: GraphqlContext): Promise<Previous> {
  const before = await context.services.usage.report(
    callerOf(context),
    queryBefore(report),
    showLimit(context),
    context.signal,
  )
  const totals = new Map(before.series.map((series) => [JSON.stringify(series.group), series.totals]))
  return { report: before, totals }
}

const NOTHING = new UsageAccumulator().metrics()
