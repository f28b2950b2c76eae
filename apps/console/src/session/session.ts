/** Who is logged in, for how long, and the access token that says so. */
export interface Session {
  /** Identifies this login; it stays when the token is renewed. All tabs that share the login have it. */
  readonly id: string
  readonly accessToken: string
  readonly expiresAtMs: number
  readonly userId: string
  readonly username: string
  readonly role: 'admin' | 'premium' | 'user'
  /** When the page asks for the password again. */
  readonly warnAtMs: number
}

/** Why a session has ended. */
export const SESSION_ENDS = [
  'loggedOut',
  'loggedOutElsewhere',
  'expired',
  'passwordChanged',
  'suspended',
  'revoked',
  'invalid',
] as const
export type SessionEnd = (typeof SESSION_ENDS)[number]

const STORED_AS = 'trunkline.session'
const ITEM_PREFIX = `${STORED_AS}.`

type Listener = () => void

/** Requests that were sent with the old token may be refused a little after its end. */
const REPLACED_FOR_MS = 60_000

/**
 * The session of this tab. It is in memory and in the tab's session storage, so that reloading keeps it and closing the tab
 * ends it. Items are texts that are kept beside it and end with it.
 */
export class SessionStore {
  #session: Session | undefined
  #ended: SessionEnd | undefined
  #replacedUntilMs = 0
  readonly #listeners = new Set<Listener>()
  readonly #endListeners = new Set<Listener>()
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
    this.#session = parse(storage.getItem(STORED_AS))
    if (this.#session === undefined) this.#removeItems()
  }

  /** Undefined before a login, and once the token has expired. */
  get current(): Session | undefined {
    if (this.#session !== undefined && this.#session.expiresAtMs <= Date.now()) this.end('expired')
    return this.#session
  }

  /** Why the last session of this page has ended; undefined before that. */
  get ended(): SessionEnd | undefined {
    return this.#ended
  }

  /** Whether requests that are refused may have been sent with a token that was renewed lately. */
  get hasReplacedToken(): boolean {
    return Date.now() < this.#replacedUntilMs
  }

  /** Begins a session; one of before ends. */
  set(session: Session): void {
    this.#change(session)
  }

  /** Does nothing without a session. */
  end(reason: SessionEnd): void {
    if (this.#session === undefined) return
    this.#ended = reason
    this.#change(undefined)
  }

  /** The same session with another token: what it has kept stays. */
  renew(session: Session): void {
    this.#replacedUntilMs = (this.#session?.expiresAtMs ?? 0) + REPLACED_FOR_MS
    this.#session = session
    this.#store()
  }

  #change(session: Session | undefined): void {
    const hasEnded = this.#session !== undefined
    this.#session = session
    this.#replacedUntilMs = 0
    if (hasEnded) for (const listener of this.#endListeners) listener()
    this.#removeItems()
    this.#store()
  }

  #store(): void {
    if (this.#session === undefined) this.#storage.removeItem(STORED_AS)
    else this.#storage.setItem(STORED_AS, JSON.stringify(this.#session))
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls the listener when a session has ended, while its items can still be read. */
  onEnd(listener: Listener): void {
    this.#endListeners.add(listener)
  }

  /** What this session has kept under a name. */
  getItem(name: string): string | undefined {
    return this.#storage.getItem(ITEM_PREFIX + name) ?? undefined
  }

  /**
   * Keeps a text until the session ends; `undefined` removes it. Returns whether there was room for it. Without a session nothing
   * is kept.
   */
  setItem(name: string, text: string | undefined): boolean {
    if (text === undefined || this.#session === undefined) {
      this.#storage.removeItem(ITEM_PREFIX + name)
      return true
    }
    try {
      this.#storage.setItem(ITEM_PREFIX + name, text)
      return true
    } catch {
      return false
    }
  }

  #removeItems(): void {
    const names = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index))
    for (const name of names) if (name?.startsWith(ITEM_PREFIX)) this.#storage.removeItem(name)
  }
}

function parse(text: string | null): Session | undefined {
  if (text === null) return undefined
  try {
    const stored: unknown = JSON.parse(text)
    return isSession(stored) ? stored : undefined
  } catch {
    return undefined
  }
}

/** Another version of the console, also one in another tab, may have something else. */
export function isSession(value: unknown): value is Session {
  const { id, accessToken, expiresAtMs, warnAtMs, userId } = Object(value)
  const areTexts = [id, accessToken, userId].every((text) => typeof text === 'string')
  return areTexts && [expiresAtMs, warnAtMs].every((ms) => typeof ms === 'number')
}
