import { isSession, SESSION_ENDS, type Session, type SessionEnd, type SessionStore } from './session.ts'

type Message =
  | { readonly kind: 'question' }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'end'; readonly id: string; readonly reason: SessionEnd }

/** What a `BroadcastChannel` has, which reaches the tabs of the same origin and stores nothing. */
export interface Channel {
  postMessage(message: Message): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

/** Other tabs answer at once, unless the browser has suspended them. */
const ANSWER_WITHIN_MS = 100

/**
 * Shares the session with the other tabs: a tab without one gets it from a tab that has it, a renewed token reaches all of them,
 * and a logout ends all. A tab that has a session of its own, perhaps of another user, keeps it.
 */
export class SessionTabs {
  readonly #store: SessionStore
  readonly #channel: Channel
  #known: Session | undefined

  constructor(store: SessionStore, channel: Channel) {
    this.#store = store
    this.#channel = channel
    this.#known = store.current
    channel.addEventListener('message', ({ data }) => this.#receive(data))
    store.subscribe(() => this.#tell())
  }

  /** Asks the other tabs for a session, if there is none here. Resolves soon, with or without one. */
  ask(): Promise<void> {
    if (this.#store.current !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        unsubscribe()
        clearTimeout(timer)
        resolve()
      }
      const unsubscribe = this.#store.subscribe(end)
      const timer = setTimeout(end, ANSWER_WITHIN_MS)
      this.#channel.postMessage({ kind: 'question' })
    })
  }

  /** Ends the session in the other tabs, before it ends here. */
  endOthers(): void {
    const id = this.#store.current?.id
    if (id !== undefined) this.#channel.postMessage({ kind: 'end', id, reason: 'loggedOut' })
  }

  #tell(): void {
    const [before, session] = [this.#known, this.#store.current]
    if (session === before) return
    this.#known = session
    if (session !== undefined) this.#channel.postMessage({ kind: 'session', session })
    else if (before !== undefined)
      this.#channel.postMessage({ kind: 'end', id: before.id, reason: this.#store.ended ?? 'invalid' })
  }

  #receive(message: unknown): void {
    const { kind, session, id, reason } = Object(message)
    const own = this.#store.current
    if (kind === 'question' && own !== undefined) this.#channel.postMessage({ kind: 'session', session: own })
    if (kind === 'end' && own?.id === id) {
      // Known to the others, of whom one may still need its token, to end it at the gateway.
      this.#known = undefined
      this.#store.end(seenFromHere(reason))
    }
    if (kind === 'session' && isSession(session)) this.#take(session, own)
  }

  #take(session: Session, own: Session | undefined): void {
    if (own === undefined && session.expiresAtMs > Date.now()) {
      // The other tabs have it already.
      this.#known = session
      this.#store.set(session)
    } else if (own?.id === session.id && session.expiresAtMs > own.expiresAtMs) {
      this.#known = session
      this.#store.renew(session)
    }
  }
}

/** Another version of the console may know other reasons. */
function seenFromHere(reason: unknown): SessionEnd {
  if (reason === 'loggedOut') return 'loggedOutElsewhere'
  return SESSION_ENDS.find((known) => known === reason) ?? 'invalid'
}
