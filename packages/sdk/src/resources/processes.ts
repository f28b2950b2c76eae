import type { ListPromise } from '../api-promise.ts'
import type { GatewayProcess } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { type ListQuery, Resource } from './resource.ts'

/** Which processes of the gateway to list. */
export type ProcessFilter = ListQuery<'listProcesses'>

/** The processes of the gateway (administrators only); reached as `client.processes`. */
export class Processes extends Resource {
  /**
   * Lists the processes that share the database, first those that live.
   *
   * @example
   * ```ts
   * const { items } = await client.processes.list({ state: 'live' })
   * for (const { id, host, version, calls_in_flight } of items) console.log(id, host, version, calls_in_flight)
   * ```
   */
  list(filter?: ProcessFilter, options?: CallOptions): ListPromise<GatewayProcess> {
    return this.transport.list('/processes', filter, options)
  }
}
