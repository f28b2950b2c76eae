import type { StatusError } from '../errors.ts'
import type { AccessToken, ClientOptions } from '../options.ts'
import { TokenExpiredError } from '../status-errors.ts'

/** Which credential a call prefers: `key` is for chat, upload and the key's own record, `none` for login. */
export type CredentialKind = 'key' | 'token' | 'none'

/** Reasons with which the gateway refuses a token that a new one replaces. */
const RENEWABLE: readonly (string | undefined)[] = ['token_expired', 'token_invalid', 'token_revoked']

/** A token is renewed a little before its end, so that it does not expire on its way. */
const MARGIN_MS = 5_000

/** The credentials of a client. The password of a login is never kept. */
export class Credentials {
  readonly #apiKey: string | undefined
  readonly #getAccessToken: ClientOptions['getAccessToken']
  #token: string | undefined
  #expiresAtMs = Number.POSITIVE_INFINITY
  /** At most half of the time that a token is valid, or else one with a short time would never be used. */
  #marginMs = MARGIN_MS
  #renewal: Promise<string> | undefined

  constructor({ apiKey, accessToken, getAccessToken }: ClientOptions) {
    this.#apiKey = apiKey
    this.#token = accessToken
    this.#getAccessToken = getAccessToken
  }

  /** Returns the credential for a call; undefined where the client has none that could serve. */
  async bearerFor(kind: CredentialKind | undefined): Promise<string | undefined> {
    if (kind === 'none') return undefined
    if (kind === 'key' && this.#apiKey !== undefined) return this.#apiKey
    return (await this.#accessToken()) ?? this.#apiKey
  }

  keep({ access_token, expires_in }: AccessToken): void {
    this.#token = access_token
    this.#expiresAtMs = Date.now() + (expires_in ?? Number.POSITIVE_INFINITY) * 1000
    this.#marginMs = Math.min(MARGIN_MS, (expires_in ?? 0) * 500)
  }

  forget(): void {
    this.#token = undefined
    this.#expiresAtMs = Number.POSITIVE_INFINITY
  }

  /** Forgets a token that the gateway has refused, unless another one has taken its place. Returns whether it can be renewed. */
  refuse({ reason }: StatusError, bearer: string | undefined): boolean {
    if (this.#getAccessToken === undefined || !RENEWABLE.includes(reason)) return false
    if (bearer === undefined || bearer === this.#apiKey) return false
    if (this.#token === bearer) this.forget()
    return true
  }

  async #accessToken(): Promise<string | undefined> {
    const marginMs = this.#getAccessToken === undefined ? 0 : this.#marginMs
    const isExpired = Date.now() + marginMs >= this.#expiresAtMs
    if (this.#token !== undefined && !isExpired) return this.#token
    if (this.#getAccessToken !== undefined) {
      this.#renewal ??= this.#renew(this.#getAccessToken).finally(() => {
        this.#renewal = undefined
      })
      return await this.#renewal
    }
    if (!isExpired) return undefined
    throw new TokenExpiredError('The access token has expired: log in again, or set getAccessToken.', {
      status: 401,
      reason: 'token_expired',
    })
  }

  async #renew(getAccessToken: NonNullable<ClientOptions['getAccessToken']>): Promise<string> {
    const renewed = await getAccessToken()
    const token = typeof renewed === 'string' ? { access_token: renewed } : renewed
    this.keep(token)
    return token.access_token
  }
}
