/** Who is logged in, for how long, and the access token that says so. */
export interface Session {
  readonly accessToken: string
  readonly expiresAtMs: number
  readonly userId: string
  readonly username: string
  readonly role: 'admin' | 'premium' | 'user'
}

const STORED_AS = 'trunkline.session'

type Listener = () => void

/**
 * The session of this tab. It is in memory and in the tab's session storage, so that reloading keeps it and closing the tab
 * ends it; other tabs do not see it.
 */
export class SessionStore {
  #session: Session | undefined
  readonly #listeners = new Set<Listener>()
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
    this.#session = parse(storage.getItem(STORED_AS))
  }

  /** Undefined before a login, and once the token has expired. */
  get current(): Session | undefined {
    if (this.#session !== undefined && this.#session.expiresAtMs <= Date.now()) this.set(undefined)
    return this.#session
  }

  /** Ends the session with `undefined`. */
  set(session: Session | undefined): void {
    this.#session = session
    if (session === undefined) this.#storage.removeItem(STORED_AS)
    else this.#storage.setItem(STORED_AS, JSON.stringify(session))
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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
