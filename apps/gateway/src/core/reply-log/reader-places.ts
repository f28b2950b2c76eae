import { Problem } from '#core/base/errors/errors.ts'
import { OwnerShares } from '#core/limits/sharing/owner-shares.ts'
import type { KeptCall } from './kept-call.ts'

/** How many readers a process serves, beside the first readers of its calls. */
export interface ReaderBounds {
  /** How many readers there may be; one owner may have all but the last tenth. */
  readonly readersMax: number
  readonly readersPerOwnerMax: number
  readonly readersPerCallMax: number
}

type Read = Pick<KeptCall, 'callId' | 'keyId' | 'ownerId'>

/**
 * The places of readers of kept replies in this process. A reader that never reads holds what was read for it, and asking for a
 * reply costs its caller nothing, so that one caller could take the memory of the process with the readers of one reply.
 */
export class ReaderPlaces {
  readonly #shares: OwnerShares
  readonly #perCallMax: number
  readonly #readersOf = new Map<string, number>()

  constructor({ readersMax, readersPerOwnerMax, readersPerCallMax }: ReaderBounds) {
    this.#shares = new OwnerShares(readersMax, readersPerOwnerMax)
    this.#perCallMax = readersPerCallMax
  }

  /**
   * Takes a place, which must be left once.
   *
   * @throws Problem `rate_limited` if the call or its owner has as many readers as it may; `unavailable` if the process has
   */
  enter({ callId, keyId, ownerId }: Read): void {
    const refusal = this.#take(callId, ownerId)
    // The call has its row, but this reader has none.
    if (refusal !== undefined) throw refusal.refusing({ keyId, ownerId })
    this.#readersOf.set(callId, (this.#readersOf.get(callId) ?? 0) + 1)
  }

  leave({ callId, ownerId }: Read): void {
    this.#shares.giveBack(ownerId)
    const left = (this.#readersOf.get(callId) ?? 0) - 1
    if (left > 0) this.#readersOf.set(callId, left)
    else this.#readersOf.delete(callId)
  }

  /** The refusal, if there is one. */
  #take(callId: string, ownerId: string): Problem | undefined {
    if ((this.#readersOf.get(callId) ?? 0) >= this.#perCallMax) {
      return new Problem('rate_limited', TOO_MANY_OF_CALL)
    }
    const refusal = this.#shares.take(ownerId)
    if (refusal === 'all') return new Problem('unavailable', TOO_MANY)
    return refusal === 'share' ? new Problem('rate_limited', TOO_MANY_OF_OWNER) : undefined
  }
}

const TOO_MANY = {
  detail: 'This gateway serves as many readers as it can.',
  limit: 'reply_readers',
  retryAfterSeconds: 1,
} as const

const TOO_MANY_OF_OWNER = {
  detail: 'The owner of the API key has as many readers as one user may have in this gateway.',
  limit: 'readers_of_owner',
  retryAfterSeconds: 1,
} as const

const TOO_MANY_OF_CALL = {
  detail: 'The reply has as many readers as one reply may have in this gateway.',
  limit: 'readers_of_call',
  retryAfterSeconds: 1,
} as const
