import { sleep } from '#core/base/async/sleep.ts'
import { isDataError } from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { ReplyStore } from './store/reply-store.ts'
import type { EndOfReply, StoredPart } from './store/reply-writer.ts'

export interface ReplyEndsDeps {
  readonly store: Pick<ReplyStore, 'end'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly observer: {
    /** The end is stored without its reply, for which there was no room, or which the database refuses. */
    lost(callId: string): void
    stored(callId: string): void
    failed(error: unknown): void
  }
}

const RETRY_AFTER_MS = 100
const RETRY_AFTER_MS_MAX = 5_000
/** What ends that are being stored may hold in all, in characters. */
const CHARACTERS_MAX = 64 * 1024 * 1024
/** How long an end waits for room, before it is stored without its reply. */
const ROOM_WITHIN_MS = 5_000

/**
 * Stores the ends of replies, as often as it takes: the calls are over, and others wait for their ends. What waits for a database
 * that does not answer is bounded, because new calls end meanwhile.
 */
export class ReplyEnds {
  readonly #deps: ReplyEndsDeps
  #characters = 0
  #waiting = 0
  #isClosed = false

  constructor(deps: ReplyEndsDeps) {
    this.#deps = deps
  }

  /** How many are not stored yet. */
  get waiting(): number {
    return this.#waiting
  }

  /** From now on an end that cannot be stored is given up. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves to whether this end is the one that counts. Rejects only after {@link ReplyEnds.close}. */
  async write(end: EndOfReply, parts: readonly StoredPart[]): Promise<boolean> {
    this.#waiting += 1
    const characters = parts.reduce((sum, { text }) => sum + text.length, end.reply?.length ?? 0)
    let held = 0
    try {
      if (await this.#findsRoom(characters)) {
        held = characters
        this.#characters += held
        return await this.#write(end, parts)
      }
      if (!end.isLost) this.#deps.observer.lost(end.callId)
      return await this.#write(withoutReply(end), [])
    } finally {
      this.#characters -= held
      this.#waiting -= 1
    }
  }

  async #findsRoom(characters: number): Promise<boolean> {
    const untilMs = this.#deps.runtime.elapsedMs() + ROOM_WITHIN_MS
    // A single one may be larger than the bound.
    while (this.#characters > 0 && this.#characters + characters > CHARACTERS_MAX) {
      if (this.#isClosed || this.#deps.runtime.elapsedMs() >= untilMs) return false
      await sleep(RETRY_AFTER_MS)
    }
    return true
  }

  async #write(end: EndOfReply, parts: readonly StoredPart[]): Promise<boolean> {
    const { store, observer } = this.#deps
    for (let delayMs = RETRY_AFTER_MS; ; delayMs = Math.min(2 * delayMs, RETRY_AFTER_MS_MAX)) {
      try {
        const counts = await store.end(end, parts)
        observer.stored(end.callId)
        return counts
      } catch (error) {
        if (this.#isClosed) throw error
        observer.failed(error)
        if (isDataError(error) && !end.isLost) {
          observer.lost(end.callId)
          return this.#write(withoutReply(end), [])
        }
      }
      await sleep(delayMs)
    }
  }
}

function withoutReply(end: EndOfReply): EndOfReply {
  return { ...end, reply: undefined, isLost: true }
}
