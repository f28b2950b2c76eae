import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { fail } from '#core/errors.ts'
import { queryBefore, type Report, type Series } from '#core/reports/reports.ts'
import { UsageAccumulator, type UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Loaders } from './loaders.ts'

interface Previous {
  readonly report: Report
  readonly totals: ReadonlyMap<string, UsageMetrics>
}

type ReadReport = (query: ReturnType<typeof queryBefore>) => Promise<Report>

/**
 * The reports of the periods before those of one operation. All fields of a report that need the one before share it, and
 * the reports of a list of keys read those before them together, as they were read themselves.
 */
export class PreviousReports {
  readonly #loaders: Pick<Loaders, 'report'>
  readonly #read: ReadReport
  readonly #known = new Map<Report, Promise<Previous>>()

  constructor(loaders: Pick<Loaders, 'report'>, read: ReadReport) {
    this.#loaders = loaders
    this.#read = read
  }

  async reportBefore(report: Report): Promise<Report> {
    return (await this.#previousOf(report)).report
  }

  /** The totals of a group in the period before. */
  async totalsBefore(report: Report, { group }: Series): Promise<UsageMetrics> {
    return (await this.#previousOf(report)).totals.get(JSON.stringify(group)) ?? NOTHING
  }

  #previousOf(report: Report): Promise<Previous> {
    const known = markRejectionHandled(this.#known.get(report) ?? this.#readBefore(report))
    this.#known.set(report, known)
    return known
  }

  async #readBefore(report: Report): Promise<Previous> {
    const before = await this.#readOne(queryBefore(report))
    const totals = new Map(before.series.map((series) => [JSON.stringify(series.group), series.totals]))
    return { report: before, totals }
  }

  async #readOne(query: ReturnType<typeof queryBefore>): Promise<Report> {
    const { keyId, userId, ...input } = query
    // The key belongs to the user, if both are given: the report itself would have been refused otherwise.
    if (keyId === undefined) return this.#read(query)
    return (await this.#loaders.report(keyId, input)) ?? fail('key_not_found')
  }
}

const NOTHING = new UsageAccumulator().metrics()
