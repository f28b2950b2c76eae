import type { ListPromise } from '../api-promise.ts'
import type { Refusal, RefusalCount } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import { type CsvQuery, type ListQuery, Resource } from './resource.ts'

/** Which refused requests to list, and how many are requested at once. */
export type RefusalFilter = ListQuery<'listRefusals'>

/** Which refused requests to count, and in buckets of what length. */
export type RefusalCountQuery = ListQuery<'countRefusals'>

/** What was refused; reached as `client.refusals`. */
export class Refusals extends Resource {
  /**
   * Lists refused requests of the last day, newest first: the first ones of each reason, credential and hour. `for await` reads all
   * pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const { request_id, at, field } of client.refusals.list({ reason: 'unknown_agent' })) {
   *   console.log(request_id, at, field)
   * }
   * ```
   */
  list(filter?: RefusalFilter, options?: CallOptions): ListPromise<Refusal> {
    return this.transport.list('/refusals', filter, options)
  }

  /**
   * Counts refused requests by the minute, hour or day, and by API key, owner, agent, reason and limit.
   *
   * @example
   * ```ts
   * const { items } = await client.refusals.counts({ per: 'day' })
   * for (const { start, key_id, reason, limit, count } of items) console.log(start, key_id, reason, limit, count)
   * ```
   */
  counts(query?: RefusalCountQuery, options?: CallOptions): ListPromise<RefusalCount> {
    return this.transport.list('/refusals/counts', query, options)
  }

  /**
   * Downloads refused requests as CSV, all of them at once: a response whose body is read as it arrives.
   *
   * @example
   * ```ts
   * const response = await client.refusals.csv({ limit_name: 'chat' })
   * console.log(await response.text())
   * ```
   */
  csv(filter?: CsvQuery<RefusalFilter>, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/refusals', filter, options)
  }

  /**
   * Downloads counts of refused requests as CSV.
   *
   * @example
   * ```ts
   * const response = await client.refusals.countsCsv({ per: 'hour' })
   * console.log(await response.text())
   * ```
   */
  countsCsv(query?: RefusalCountQuery, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/refusals/counts', query, options)
  }
}
