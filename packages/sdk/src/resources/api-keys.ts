import type { ApiPromise, ListPromise } from '../api-promise.ts'
import type {
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  CurrentApiKey,
  ResetUsageRequest,
  RotateApiKey,
  UpdateApiKey,
} from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { type ListQuery, Resource } from './resource.ts'

/** What is said of a new key; `expires_at` may be a Date. */
export type NewApiKey = Omit<CreateApiKey, 'expires_at'> & {
  /** When the key expires: a Date, or ISO 8601 with a time zone. */
  expires_at: CreateApiKey['expires_at'] | Date
}

/** What is changed of a key; `expires_at` may be a Date. */
export type ApiKeyChange = Omit<UpdateApiKey, 'expires_at'> & {
  /** When the key expires: a Date, or ISO 8601 with a time zone. An expired key becomes active again by it. */
  expires_at?: NonNullable<UpdateApiKey['expires_at']> | Date
}

/** Which API keys a list holds, in which order, and how many are requested at once. */
export type ApiKeyFilter = ListQuery<'listApiKeys'>

/** The API keys of the user, or for an administrator everybody's; reached as `client.apiKeys`. */
export class ApiKeys extends Resource {
  /**
   * Creates a key. The reply is the only one that ever holds `full_key`. It needs an access token.
   *
   * @example
   * ```ts
   * const key = await client.apiKeys.create({
   *   name: 'worker',
   *   description: 'Answers tickets',
   *   expires_at: new Date(Date.now() + 30 * 86_400_000),
   *   permissions: ['chat'],
   * })
   * console.log(key.full_key)
   * ```
   */
  create(body: NewApiKey, options?: CallOptions): ApiPromise<CreatedApiKey> {
    return this.send('POST', '/api-keys', options, {
      json: body,
      repeatable: 'advised',
    })
  }

  /**
   * Lists keys, newest first or in the order of `order_by`. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const key of client.apiKeys.list({ state: 'active', search: 'test', order_by: 'name' })) {
   *   console.log(key.name, key.usage.total_calls)
   * }
   * ```
   */
  list(filter?: ApiKeyFilter, options?: CallOptions): ListPromise<ApiKey> {
    return this.transport.list('/api-keys', filter, options)
  }

  /**
   * Reads the record of a key.
   *
   * @example
   * ```ts
   * const key = await client.apiKeys.get(id)
   * console.log(key.is_active, key.usage.calls_today)
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<ApiKey> {
    return this.send('GET', '/api-keys/{id}', options, { params: { id } })
  }

  /**
   * Changes a key; fields that are absent keep their values. `is_active: false` pauses it, until `true` lifts that, and
   * `allowed_addresses` are those that it may be used from.
   *
   * @example
   * ```ts
   * await client.apiKeys.update(id, { name: 'worker 2', allowed_agents: ['fastgpt'] })
   * await client.apiKeys.update(id, { expires_at: new Date(Date.now() + 30 * 86_400_000) })
   * await client.apiKeys.update(id, { is_active: false, allowed_addresses: ['192.0.2.0/24', '2001:db8::7'] })
   * ```
   */
  update(id: string, body: ApiKeyChange, options?: CallOptions): ApiPromise<ApiKey> {
    return this.send('PATCH', '/api-keys/{id}', options, { params: { id }, json: body })
  }

  /**
   * Gives a key another secret, which stays the same key with the same id. The reply is the only one that ever holds the new
   * `full_key`. The secret before can be used for another day, or for `overlap_seconds`; with 0 every earlier one ends at once.
   * It needs an access token.
   *
   * @example
   * ```ts
   * const { full_key, secrets } = await client.apiKeys.rotate(id, { overlap_seconds: 3_600 })
   * console.log(full_key, secrets[1]?.ends_at)
   * ```
   */
  rotate(id: string, body?: RotateApiKey, options?: CallOptions): ApiPromise<CreatedApiKey> {
    // Where the reply was lost, the next rotation replaces the secret that nobody has got.
    return this.send('POST', '/api-keys/{id}/rotate', options, { params: { id }, json: body })
  }

  /**
   * Ends a key at once; the record is kept, and repeating it changes nothing.
   *
   * @example
   * ```ts
   * const { revoked_at } = await client.apiKeys.revoke(id)
   * console.log(revoked_at)
   * ```
   */
  revoke(id: string, options?: CallOptions): ApiPromise<ApiKey> {
    return this.send('POST', '/api-keys/{id}/revoke', options, { params: { id } })
  }

  /**
   * Ends the overlap of a rotation: the secret before the present one can no longer be used. Repeating it changes nothing.
   *
   * @example
   * ```ts
   * const { secrets } = await client.apiKeys.endPreviousSecret(id)
   * console.log(secrets.length) // 1
   * ```
   */
  endPreviousSecret(id: string, options?: CallOptions): ApiPromise<ApiKey> {
    return this.send('POST', '/api-keys/{id}/previous-secret/end', options, { params: { id } })
  }

  /**
   * Starts a counter of the key again; the history stays.
   *
   * @example
   * ```ts
   * await client.apiKeys.resetUsage(id, { period: 'day' })
   * ```
   */
  resetUsage(id: string, body: ResetUsageRequest, options?: CallOptions): ApiPromise<ApiKey> {
    return this.send('POST', '/api-keys/{id}/usage/reset', options, {
      params: { id },
      json: body,
      // The second one would also reset what was counted after the first.
      repeatable: 'unreached',
    })
  }

  /**
   * Reads the record of the client's own API key, with its limits and what is left of its quota.
   *
   * @example
   * ```ts
   * const { permissions, limits } = await client.apiKeys.current()
   * console.log(permissions, limits)
   * ```
   */
  current(options?: CallOptions): ApiPromise<CurrentApiKey> {
    return this.send('GET', '/key', options, { credential: 'key' })
  }
}
