import type { ApiPromise } from '../api-promise.ts'
import type { operations } from '../generated/wire.ts'
import type { CallOptions, RequestMethod } from '../options.ts'
import type { GatewayTransport } from '../transport/gateway-transport.ts'
import type { RequestSpec } from '../transport/transport.ts'

type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>
type Time = 'from' | 'to' | 'compare_from' | 'compare_to'

/** The parameters of an operation that lists or counts; a time may be a Date. */
export type ListQuery<Name extends keyof operations> = {
  [Key in keyof Query<Name> as Exclude<Key, 'format'>]: Query<Name>[Key] | (Key extends Time ? Date : never)
}

/** The same for a CSV, which has no pages. */
export type CsvQuery<Filter> = Omit<Filter, 'limit' | 'cursor'>

/** The methods of the client for one resource. */
export abstract class Resource {
  /** @internal */
  protected readonly transport: GatewayTransport

  constructor(transport: GatewayTransport) {
    this.transport = transport
  }

  /**
   * Sends a request and returns the `data` of its envelope.
   *
   * @internal
   */
  protected send<T>(
    method: RequestMethod,
    path: string,
    options?: CallOptions,
    more?: Partial<RequestSpec>,
  ): ApiPromise<T> {
    return this.transport.data({ ...more, method, path }, options)
  }
}
