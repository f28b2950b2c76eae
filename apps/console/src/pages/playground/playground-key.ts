import { Trunkline, TrunklineError } from '@trunkline/sdk'
import { PLAYGROUND_KEYS } from '../../playground-keys.ts'

const LIFETIME_MS = 60 * 60_000
/** A key that is about to expire is not used for another message. */
const MARGIN_MS = 60_000

interface MadeKey {
  readonly id: string
  readonly fullKey: string
  readonly expiresAtMs: number
}

interface PlaygroundKeyOptions {
  readonly baseURL: string
  readonly agent: string
  /** The token of the session, with which the key is made and revoked. */
  accessToken(): string | undefined
  /** Milliseconds since 1970. */
  now?(): number
  readonly fetch?: typeof fetch
}

/**
 * The API key of one visit to the playground, which is in memory alone. It is made when it is first needed, for this agent and for
 * one hour, and revoked on leaving. Users who may not make keys paste one, which is used as it is and never revoked.
 */
export class PlaygroundKey {
  readonly #options: PlaygroundKeyOptions
  readonly #now: () => number
  #made: MadeKey | undefined
  #making: Promise<MadeKey> | undefined
  #pasted: string | undefined

  constructor(options: PlaygroundKeyOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Uses this key instead of making one; undefined forgets it. */
  paste(key: string | undefined): void {
    this.#pasted = key
  }

  /** Resolves with the key, which it makes where there is none. */
  async get(): Promise<string> {
    if (this.#pasted !== undefined) return this.#pasted
    if (this.#made !== undefined && this.#made.expiresAtMs - MARGIN_MS > this.#now())
      return this.#made.fullKey
    // A message and a file may need the key at the same time.
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined
    })
    this.#made = await this.#making
    return this.#made.fullKey
  }

  /** Forgets a key that the gateway has refused as no longer valid. Returns true if another one can be made. */
  refused(error: unknown): boolean {
    const isOver = error instanceof TrunklineError && OVER.has(error.reason ?? '')
    if (!isOver || this.#pasted !== undefined || this.#made === undefined) return false
    this.#made = undefined
    return true
  }

  /**
   * Revokes what was made. The request outlives the page, because it is also sent while the page is being left. Where it does not
   * arrive, the key expires by itself.
   */
  async revoke(): Promise<void> {
    const made = this.#made ?? (await this.#making?.catch(() => undefined))
    this.#made = undefined
    if (made === undefined) return
    await this.#client()
      .apiKeys.revoke(made.id)
      .catch(() => undefined)
  }

  async #make(): Promise<MadeKey> {
    const expiresAtMs = this.#now() + LIFETIME_MS
    const { id, full_key } = await this.#client().apiKeys.create({
      name: `${PLAYGROUND_KEYS.namePrefix}${this.#options.agent}`,
      description: PLAYGROUND_KEYS.description,
      expires_at: new Date(expiresAtMs).toISOString(),
      permissions: ['chat', 'upload'],
      allowed_agents: [this.#options.agent],
    })
    return { id, fullKey: full_key, expiresAtMs }
  }

  #client(): Trunkline {
    const { baseURL, accessToken, fetch: send = fetch } = this.#options
    return new Trunkline({
      baseURL,
      accessToken: accessToken(),
      maxRetries: 0,
      fetch: (input, init) => send(input, { ...init, keepalive: true }),
    })
  }
}

const OVER = new Set(['key_expired', 'key_revoked', 'key_unknown'])
