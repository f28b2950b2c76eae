import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { ReplyStore } from './store/reply-store.ts'

export interface ReplySpaceDeps {
  readonly store: Pick<ReplyStore, 'makeRoom'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** Called when the room cannot be looked after, and when it can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
}

const LOOK_EVERY_MS = 2_000
/** Summing up the kept bytes takes long in a large installation; after each millisecond of it there is a pause of so many. */
const REST_PER_MS = 50

/**
 * Keeps what is kept within its bounds: the oldest replies make room for new ones. What cannot be deleted, since it is that of
 * running calls, leaves no room for new calls.
 */
export class ReplySpace {
  readonly #reads: PeriodicRead
  #hasGrown = false
  #isFull = false
  #fullOwners: ReadonlySet<string> = new Set()

  constructor({ store, runtime, onAnswer }: ReplySpaceDeps) {
    let restsUntilMs = 0
    this.#reads = new PeriodicRead({
      everyMs: LOOK_EVERY_MS,
      runtime,
      onAnswer,
      isNeeded: () => this.#hasGrown || this.#isFull || this.#fullOwners.size > 0,
      read: async () => {
        const beganMs = runtime.elapsedMs()
        if (beganMs < restsUntilMs) return
        this.#hasGrown = false
        const { isFull, fullOwners } = await store.makeRoom()
        const endedMs = runtime.elapsedMs()
        restsUntilMs = endedMs + REST_PER_MS * (endedMs - beganMs)
        this.#isFull = isFull
        this.#fullOwners = new Set(fullOwners)
      },
    })
  }

  /** Something more is stored. */
  grown(): void {
    if (this.#hasGrown) return
    this.#hasGrown = true
    this.#reads.start()
  }

  /** @throws Problem `unavailable` */
  require(ownerId: string): void {
    if (this.#isFull) fail('unavailable', NO_ROOM)
    if (this.#fullOwners.has(ownerId)) fail('unavailable', NO_ROOM_OF_OWNER)
  }

  stop(): void {
    this.#reads.stop()
  }
}

const NO_ROOM = {
  detail: 'Kept replies take all the space that they may.',
  limit: 'reply_space',
  retryAfterSeconds: 5,
} as const

const NO_ROOM_OF_OWNER = {
  detail: 'The kept replies of the owner of the API key take all the space that they may.',
  limit: 'replies_of_owner',
  retryAfterSeconds: 5,
} as const
