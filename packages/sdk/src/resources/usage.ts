import type { ApiPromise } from '../api-promise.ts'
import type { UsageReport } from '../generated/wire.ts'
import type { UsageGroupBy } from '../generated/words.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import type { OutcomeFilter } from '../unions.ts'
import { type ListQuery, Resource } from './resource.ts'

type ReportQuery = ListQuery<'readUsage'>

/** What a usage report covers. */
export type UsageQuery = Omit<ReportQuery, 'group_by' | 'outcome' | 'rows' | 'labels'> & {
  /** By what to group, with one group for each combination. */
  group_by?: UsageGroupBy | readonly UsageGroupBy[]
  /** Only calls that ended in this way, or in one of these. */
  outcome?: OutcomeFilter | readonly OutcomeFilter[]
}

/** What the CSV of a usage report has. */
export type UsageCsvQuery = UsageQuery & Pick<ReportQuery, 'rows' | 'labels'>

/** Sums of what was called; reached as `client.usage`. */
export class Usage extends Resource {
  /**
   * Reads a report: calls, failures, tokens and times, in buckets of an hour, a day or a month.
   *
   * @example
   * ```ts
   * const report = await client.usage.query({ granularity: 'day', group_by: ['agent'], timezone: 'Asia/Shanghai' })
   * console.log(report.totals)
   * // With `previous`, it also has the period before, which is as long; both cost one report.
   * const { totals, previous } = await client.usage.query({ previous: true })
   * console.log(totals.calls - (previous?.totals.calls ?? 0))
   * ```
   */
  query(query?: UsageQuery, options?: CallOptions): ApiPromise<UsageReport> {
    return this.send('GET', '/usage', options, { query })
  }

  /**
   * Downloads a report as CSV: a response whose body is read as it arrives.
   *
   * @example
   * ```ts
   * const response = await client.usage.csv({ granularity: 'month', group_by: ['user'], rows: 'totals', labels: true })
   * console.log(await response.text())
   * ```
   */
  csv(query?: UsageCsvQuery, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/usage', query, options)
  }
}
