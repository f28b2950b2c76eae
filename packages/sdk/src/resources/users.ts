import type { ApiPromise, ListPromise } from '../api-promise.ts'
import type { ChangePassword, CreateUser, FullUser, SetPassword, UpdateUser } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { type ListQuery, Resource } from './resource.ts'

/** Which users a list holds, in which order, and how many are requested at once. */
export type UserFilter = ListQuery<'listUsers'>

/** The users of the gateway, for administrators, and the user itself; reached as `client.users`. */
export class Users extends Resource {
  /**
   * Creates a user (administrators only).
   *
   * @example
   * ```ts
   * const user = await client.users.create({ username: 'bob', password: 'a long passphrase', role: 'premium' })
   * console.log(user.id)
   * ```
   */
  create(body: CreateUser, options?: CallOptions): ApiPromise<FullUser> {
    return this.send('POST', '/users', options, {
      json: body,
      secrets: [body?.password],
      repeatable: 'advised',
    })
  }

  /**
   * Lists the users, newest first or in the order of `order_by` (administrators only). `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const user of client.users.list()) console.log(user.username, user.api_calls_count)
   * ```
   */
  list(filter?: UserFilter, options?: CallOptions): ListPromise<FullUser> {
    return this.transport.list('/users', filter, options)
  }

  /**
   * Reads a user (administrators only).
   *
   * @example
   * ```ts
   * const user = await client.users.get(id)
   * console.log(user.username, user.last_login)
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<FullUser> {
    return this.send('GET', '/users/{id}', options, { params: { id } })
  }

  /**
   * Changes a user's role, status or quota (administrators only).
   *
   * @example
   * ```ts
   * await client.users.update(id, { status: 'suspended' })
   * ```
   */
  update(id: string, body: UpdateUser, options?: CallOptions): ApiPromise<FullUser> {
    return this.send('PATCH', '/users/{id}', options, { params: { id }, json: body })
  }

  /**
   * Sets a user's password, which ends its access tokens (administrators only).
   *
   * @example
   * ```ts
   * await client.users.setPassword(id, { password: 'another long passphrase' })
   * ```
   */
  setPassword(id: string, body: SetPassword, options?: CallOptions): ApiPromise<FullUser> {
    return this.send('PUT', '/users/{id}/password', options, {
      params: { id },
      json: body,
      secrets: [body?.password],
      // The user may have chosen another one meanwhile, and an administrator's own token ends with it.
      repeatable: 'unreached',
    })
  }

  /**
   * Reads the user of the credential; the same as `client.me()`.
   *
   * @example
   * ```ts
   * const { username, role } = await client.users.me()
   * console.log(username, role)
   * ```
   */
  me(options?: CallOptions): ApiPromise<FullUser> {
    return this.send('GET', '/users/me', options)
  }

  /**
   * Changes one's own password, which ends the access token of this client as well: log in again.
   *
   * @example
   * ```ts
   * const change = { current_password: 'a long passphrase', new_password: 'another long passphrase' }
   * await client.users.changePassword(change)
   * ```
   */
  changePassword(body: ChangePassword, options?: CallOptions): ApiPromise<FullUser> {
    return this.send('PUT', '/users/me/password', options, {
      json: body,
      secrets: [body?.current_password, body?.new_password],
      // The second one would have neither the right password nor a token.
      repeatable: 'unreached',
    })
  }
}
