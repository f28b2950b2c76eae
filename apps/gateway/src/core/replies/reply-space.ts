import { PeriodicRead } from '#core/async/periodic-read.ts'
import { fail } from '#core/errors.ts'
import type { Runtime } from '#core/runtime.ts'
import type { ReplyStore } from './store/reply-store.ts'

export interface ReplySpaceDeps {
  readonly store: Pick<ReplyStore, 'makeRoom'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** Called when the room cannot be looked after, and when it can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
}

const LOOK_EVERY_MS = 2_000

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
    this.#reads = new PeriodicRead({
      everyMs: LOOK_EVERY_MS,
      runtime,
      onAnswer,
      isNeeded: () => this.#hasGrown || this.#isFull || this.#fullOwners.size > 0,
      read: async () => {
        this.#hasGrown = false
        const { isFull, fullOwners } = await store.makeRoom()
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

const NO_ROOM = { detail: 'Kept replies take all the space that they may.', retryAfterSeconds: 5 }

const NO_ROOM_OF_OWNER = {
  detail: 'The kept replies of the owner of the API key take all the space that they may.',
  retryAfterSeconds: 5,
}
