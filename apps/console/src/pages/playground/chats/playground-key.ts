import { Trunkline, TrunklineError } from '@trunkline/sdk'
import { PLAYGROUND_KEYS } from '../../../playground-keys.ts'
import type { SessionKey, SessionKeys } from '../../../session/session-keys.ts'

const LIFETIME_MS = 60 * 60_000
/** How long a call may take by default. A key that expires sooner is not used for another message, because it would end the call. */
const MARGIN_MS = 20 * 60_000

interface PlaygroundKeyOptions {
  readonly baseURL: string
  readonly agent: string
  /** Where the keys of the session are kept. */
  readonly keys: Pick<SessionKeys, 'newest' | 'add' | 'forget'>
  /** The token of the session, with which the key is made. */
  accessToken(): string | undefined
  /** Milliseconds since 1970. */
  now?(): number
  readonly fetch?: typeof fetch
}

/**
 * The API key of the playground for one agent. It is made when it is first needed, for this agent and for one hour, and kept with
 * the session, so that a reload and a later visit use it again. Users who may not make keys paste one, which is in memory alone.
 */
export class PlaygroundKey {
  readonly #options: PlaygroundKeyOptions
  readonly #now: () => number
  #making: Promise<SessionKey> | undefined
  #pasted: string | undefined
  #holders = 0

  constructor(options: PlaygroundKeyOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Uses this key instead of making one; undefined forgets it. */
  paste(key: string | undefined): void {
    this.#pasted = key
  }

  /** The key that there is, until it expires. */
  get current(): string | undefined {
    return this.#pasted ?? this.#madeFor(0)?.fullKey
  }

  /** Resolves with the key, which it makes where there is none. */
  async get(): Promise<string> {
    if (this.#pasted !== undefined) return this.#pasted
    const made = this.#madeFor(this.#holders > 0 ? 0 : MARGIN_MS)
    if (made !== undefined) return made.fullKey
    // A message and a file may need the key at the same time.
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined
    })
    return (await this.#making).fullKey
  }

  /**
   * Keeps the key from being replaced until the returned function is called: a reply can be resumed only with the key that
   * requested it.
   */
  hold(): () => void {
    this.#holders += 1
    return () => {
      this.#holders -= 1
    }
  }

  /** Forgets a key that the gateway has refused as no longer valid. Returns true if another one can be made. */
  refused(error: unknown): boolean {
    const made = this.#options.keys.newest(this.#options.agent)
    if (!isKeyOver(error) || this.#pasted !== undefined || made === undefined) return false
    this.#options.keys.forget(made.id)
    return true
  }

  #madeFor(marginMs: number): SessionKey | undefined {
    const made = this.#options.keys.newest(this.#options.agent)
    return made !== undefined && made.expiresAtMs - marginMs > this.#now() ? made : undefined
  }

  async #make(): Promise<SessionKey> {
    const { baseURL, agent, keys, accessToken, fetch } = this.#options
    const client = new Trunkline({ baseURL, accessToken: accessToken(), maxRetries: 0, fetch })
    const expiresAtMs = this.#now() + LIFETIME_MS
    const { id, full_key } = await client.apiKeys.create({
      name: `${PLAYGROUND_KEYS.namePrefix}${agent}`,
      description: PLAYGROUND_KEYS.description,
      expires_at: new Date(expiresAtMs).toISOString(),
      permissions: ['chat', 'upload'],
      allowed_agents: [agent],
    })
    const made = { purpose: agent, id, fullKey: full_key, expiresAtMs }
    keys.add(made, this.#now())
    return made
  }
}

/** Whether the gateway has refused an API key since it is not valid any more. */
export function isKeyOver(error: unknown): boolean {
  return error instanceof TrunklineError && OVER.has(error.reason ?? '')
}

const OVER = new Set(['key_expired', 'key_revoked', 'key_rotated', 'key_unknown'])
