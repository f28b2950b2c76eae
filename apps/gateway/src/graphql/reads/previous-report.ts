import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail } from '#core/base/errors/errors.ts'
import { queryBefore, type Report, type ReportGroup } from '#core/reports/reports.ts'
import { UsageAccumulator, type UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Loaders } from './loaders.ts'

interface Previous {
  readonly report: Report
  readonly totals: ReadonlyMap<string, UsageMetrics>
}

/** Reads a report that belongs to no list of keys. */
interface ReadReports {
  /** The report with which another one is compared, which has paid for it. */
  before(report: Report): Promise<Report>
  /** Any report, which pays for itself. */
  report(query: ReturnType<typeof queryBefore>): Promise<Report>
}

/**
 * The reports of the periods before those of one operation. All fields of a report that need the one before share it, and
 * the reports of a list of keys read those before them together, as they were read themselves. The one before is in the price
 * of its report, and what comes before that has its own.
 */
export class PreviousReports {
  readonly #loaders: Pick<Loaders, 'report' | 'reportBefore'>
  readonly #read: ReadReports
  readonly #known = new Map<Report, Promise<Previous>>()
  /** The reports that were in the price of others. */
  readonly #included = new Set<Report>()

  constructor(loaders: Pick<Loaders, 'report' | 'reportBefore'>, read: ReadReports) {
    this.#loaders = loaders
    this.#read = read
  }

  async reportBefore(report: Report): Promise<Report> {
    return (await this.#previousOf(report)).report
  }

  /** The totals of a group in the period before. */
  async totalsBefore(report: Report, { group }: ReportGroup): Promise<UsageMetrics> {
    return (await this.#previousOf(report)).totals.get(JSON.stringify(group)) ?? NOTHING
  }

  #previousOf(report: Report): Promise<Previous> {
    const known = markRejectionHandled(this.#known.get(report) ?? this.#readBefore(report))
    this.#known.set(report, known)
    return known
  }

  async #readBefore(report: Report): Promise<Previous> {
    const isPaid = !this.#included.has(report)
    const before = await (isPaid ? this.#readIncluded(report) : this.#readOne(queryBefore(report)))
    if (isPaid) this.#included.add(before)
    const totals = new Map(before.groups.map(({ group, totals: own }) => [JSON.stringify(group), own]))
    return { report: before, totals }
  }

  async #readIncluded(report: Report): Promise<Report> {
    const { keyId } = report
    if (keyId === undefined) return this.#read.before(report)
    return (await this.#loaders.reportBefore(keyId, report)) ?? fail('key_not_found')
  }

  async #readOne(query: ReturnType<typeof queryBefore>): Promise<Report> {
    const { keyId, ownerId, ...input } = query
    // The key belongs to the user, if both are given: the report itself would have been refused otherwise.
    if (keyId === undefined) return this.#read.report(query)
    return (await this.#loaders.report(keyId, input)) ?? fail('key_not_found')
  }
}

const NOTHING = new UsageAccumulator().metrics()
