import type { ListPromise } from '../api-promise.ts'
import type { AuditEvent, operations } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import type { GatewayTransport } from '../transport/gateway-transport.ts'

/** Which events of the audit log to read, and how many are requested at once. */
export type AuditFilter = Omit<
  NonNullable<operations['listAuditEvents']['parameters']['query']>,
  'format' | 'from' | 'to'
> & {
  /** Only events of this time or later: a Date, ISO 8601, or a date that stands for the start of that day in `timezone`. */
  from?: string | Date
  /** Only events before this time. */
  to?: string | Date
}

/** Who changed what (administrators only); reached as `client.audit`. */
export class Audit {
  readonly #transport: GatewayTransport

  constructor(transport: GatewayTransport) {
    this.#transport = transport
  }

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
    return this.#transport.list('/audit', filter, options)
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
  csv(filter?: Omit<AuditFilter, 'limit' | 'cursor'>, options?: ChatStreamOptions): Promise<Response> {
    return this.#transport.csv('/audit', filter, options)
  }
}
