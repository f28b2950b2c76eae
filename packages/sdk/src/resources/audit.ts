import type { ListPromise } from '../api-promise.ts'
import type { AuditEvent } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import { type CsvQuery, type ListQuery, Resource } from './resource.ts'

/** Which events of the audit log to read, and how many are requested at once. */
export type AuditFilter = ListQuery<'listAuditEvents'>

/** Who changed what (administrators only); reached as `client.audit`. */
export class Audit extends Resource {
  /**
   * Lists the events of the audit log, newest first. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const { n, at, operation, user_id, target_id } of client.audit.list({ target: 'user' })) {
   *   console.log(n, at, operation, user_id, target_id)
   * }
   * ```
   */
  list(filter?: AuditFilter, options?: CallOptions): ListPromise<AuditEvent> {
    return this.transport.list('/audit', filter, options)
  }

  /**
   * Downloads the events as CSV, all of them at once, with the states as the texts that were hashed: a response whose body is read
   * as it arrives.
   *
   * @example
   * ```ts
   * const response = await client.audit.csv({ from: '2026-10-01', to: '2026-11-01' })
   * console.log(await response.text())
   * ```
   */
  csv(filter?: CsvQuery<AuditFilter>, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/audit', filter, options)
  }
}
