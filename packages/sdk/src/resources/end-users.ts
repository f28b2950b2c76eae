import type { ApiPromise } from '../api-promise.ts'
import type { ErasedEndUser, operations } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import type { GatewayTransport } from '../transport/gateway-transport.ts'
import { LONG_TIMEOUT_MS } from '../transport/transport.ts'

/** Which end user to erase. */
export type EraseEndUser = operations['eraseEndUser']['requestBody']['content']['application/json']

/** The end users that calls name; reached as `client.endUsers`. */
export class EndUsers {
  readonly #transport: GatewayTransport

  constructor(transport: GatewayTransport) {
    this.#transport = transport
  }

  /**
   * Erases an end user: its conversations at the platforms and at the gateway, its uploads and its name. What a platform does not
   * delete now is left for a repetition. Administrators name the user whose end user it is as `owner`.
   *
   * @example
   * ```ts
   * const { id: owner } = await client.users.me()
   * const { complete, pseudonym, agents } = await client.endUsers.erase({ end_user: 'ann', owner_id: owner })
   * console.log(complete, pseudonym)
   * for (const { agent, remaining, reason } of agents) console.log(agent, remaining, reason)
   * ```
   */
  erase(body: EraseEndUser, options?: CallOptions): ApiPromise<ErasedEndUser> {
    return this.#transport.data(
      {
        method: 'POST',
        path: '/end-users/erase',
        json: body,
        credential: 'token',
        timeoutMs: LONG_TIMEOUT_MS,
      },
      options,
    )
  }
}
