import type { ApiPromise, ListPromise } from '../api-promise.ts'
import type { Call, operations, UsageReport } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import type { GatewayTransport } from '../transport/gateway-transport.ts'
import type { CallState, OutcomeFilter, UsageGroupBy } from '../unions.ts'

type ReportQuery = NonNullable<operations['readUsage']['parameters']['query']>

/** What a usage report covers. */
export type UsageQuery = Omit<
  ReportQuery,
  'format' | 'group_by' | 'outcome' | 'from' | 'to' | 'rows' | 'labels' | 'compare_from' | 'compare_to'
> & {
  /** Only calls admitted at this time or later: a Date, ISO 8601, or a date that stands for the start of that day in `timezone`. */
  from?: string | Date
  /** Only calls admitted before this time. */
  to?: string | Date
  /** By what to group, with one group for each combination. */
  group_by?: UsageGroupBy | readonly UsageGroupBy[]
  /** Only calls that ended in this way, or in one of these. */
  outcome?: OutcomeFilter | readonly OutcomeFilter[]
  /** The start of the period with which the report is compared, instead of the period before. */
  compare_from?: string | Date
  /** The end of that period; without it, it is as long as the report. */
  compare_to?: string | Date
}

/** What the CSV of a usage report has. */
export type UsageCsvQuery = UsageQuery & Pick<ReportQuery, 'rows' | 'labels'>

/** Which calls of the ledger to read, and how many are requested at once. */
export type CallFilter = Omit<
  NonNullable<operations['listCalls']['parameters']['query']>,
  'format' | 'outcome' | 'from' | 'to'
> & {
  /** Only calls admitted at this time or later: a Date, ISO 8601, or a date that stands for the start of that day in `timezone`. */
  from?: string | Date
  /** Only calls admitted before this time. */
  to?: string | Date
  /** Only calls that ended in this way, or in one of these; `running` stands for those that have not ended. */
  outcome?: CallState | readonly CallState[]
}

/** What was called; reached as `client.usage`. */
export class Usage {
  readonly #transport: GatewayTransport

  constructor(transport: GatewayTransport) {
    this.#transport = transport
  }

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
    return this.#transport.data({ method: 'GET', path: '/usage', query, credential: 'token' }, options)
  }

  /**
   * Lists the calls of the ledger, newest first. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const call of client.usage.calls({ outcome: 'failed' })) console.log(call.request_id, call.reason)
   * ```
   */
  calls(filter?: CallFilter, options?: CallOptions): ListPromise<Call> {
    return this.#transport.list('/calls', filter, options)
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
    return this.#transport.csv('/usage', query, options)
  }

  /**
   * Downloads calls of the ledger as CSV, all of them at once: a response whose body is read as it arrives. It can be piped into
   * a file, or be returned by a route handler.
   *
   * @example
   * ```ts
   * import { writeFile } from 'node:fs/promises'
   *
   * const { body } = await client.usage.callsCsv({ from: '2026-10-01', to: '2026-11-01', timezone: 'Asia/Shanghai' })
   * if (body !== null) await writeFile('calls.csv', body)
   * ```
   */
  callsCsv(filter?: Omit<CallFilter, 'limit' | 'cursor'>, options?: ChatStreamOptions): Promise<Response> {
    return this.#transport.csv('/calls', filter, options)
  }
}
