/** Who is logged in, for how long, and the access token that says so. */
export interface Session {
  readonly accessToken: string
  readonly expiresAtMs: number
  readonly userId: string
  readonly username: string
  readonly role: 'admin' | 'premium' | 'user'
}

const STORED_AS = 'trunkline.session'
const ITEM_PREFIX = `${STORED_AS}.`

type Listener = () => void

/**
 * The session of this tab. It is in memory and in the tab's session storage, so that reloading keeps it and closing the tab
 * ends it; other tabs do not see it. Items are texts that are kept beside it and end with it.
 */
export class SessionStore {
  #session: Session | undefined
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
    if (this.#session !== undefined && this.#session.expiresAtMs <= Date.now()) this.set(undefined)
    return this.#session
  }

  /** Ends the session with `undefined`. */
  set(session: Session | undefined): void {
    const hasEnded = this.#session !== undefined
    this.#session = session
    if (hasEnded) for (const listener of this.#endListeners) listener()
    this.#removeItems()
    if (session === undefined) this.#storage.removeItem(STORED_AS)
    else this.#storage.setItem(STORED_AS, JSON.stringify(session))
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

/** Another version of the console may have stored something else. */
function parse(text: string | null): Session | undefined {
  if (text === null) return undefined
  try {
    const stored = JSON.parse(text) as Partial<Session> | null
    const isSession = typeof stored?.accessToken === 'string' && typeof stored.expiresAtMs === 'number'
    return isSession ? (stored as Session) : undefined
  } catch {
    return undefined
  }
}
