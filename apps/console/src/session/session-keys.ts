import type { SessionStore } from './session.ts'

/** An API key that the console has made for itself. */
export interface SessionKey {
  /** What it is for. */
  readonly purpose: string
  readonly id: string
  readonly fullKey: string
  readonly expiresAtMs: number
}

const STORED_AS = 'keys'

/** The API keys that the console has made in this session. They are stored with its access token, and end with it. */
export class SessionKeys {
  readonly #store: Pick<SessionStore, 'getItem' | 'setItem'>

  constructor(store: Pick<SessionStore, 'getItem' | 'setItem'>) {
    this.#store = store
  }

  /** All of them, the oldest first. */
  get all(): readonly SessionKey[] {
    try {
      const stored: unknown = JSON.parse(this.#store.getItem(STORED_AS) ?? '[]')
      return Array.isArray(stored) ? stored.filter(isKey) : []
    } catch {
      return []
    }
  }

  newest(purpose: string): SessionKey | undefined {
    return this.all.findLast((key) => key.purpose === purpose)
  }

  /** Those that have expired by now are forgotten. */
  add(key: SessionKey, nowMs: number): void {
    this.#set([...this.all.filter(({ expiresAtMs }) => expiresAtMs > nowMs), key])
  }

  forget(id: string): void {
    this.#set(this.all.filter((key) => key.id !== id))
  }

  #set(keys: readonly SessionKey[]): void {
    this.#store.setItem(STORED_AS, keys.length === 0 ? undefined : JSON.stringify(keys))
  }
}

/** Another version of the console may have stored something else. */
function isKey(value: unknown): value is SessionKey {
  const { purpose, id, fullKey, expiresAtMs } = Object(value)
  const areTexts = [purpose, id, fullKey].every((text) => typeof text === 'string')
  return areTexts && typeof expiresAtMs === 'number'
}
