import type { ApiPromise } from '../api-promise.ts'
import type { ErasedEndUser, EraseEndUser } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { LONG_TIMEOUT_MS } from '../transport/transport.ts'
import { Resource } from './resource.ts'

/** The end users that calls name; reached as `client.endUsers`. */
export class EndUsers extends Resource {
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
    return this.send('POST', '/end-users/erase', options, {
      json: body,
      timeoutMs: LONG_TIMEOUT_MS,
    })
  }
}
