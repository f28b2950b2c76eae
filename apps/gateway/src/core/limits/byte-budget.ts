import { fail } from '#core/base/errors/errors.ts'

/**
 * Bounds the memory that large contents of all callers may take together in this process. A caller holds bytes until it
 * releases them, since memory in use cannot be taken back from it.
 */
export class ByteBudget {
  readonly #bytesMax: number
  #held = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * Returns the function that releases the bytes; further calls of it have no effect.
   *
   * @throws Problem `unavailable` if other callers hold too much
   */
  hold(bytes: number): () => void {
    if (this.#held + bytes > this.#bytesMax) fail('unavailable', TOO_MUCH)
    this.#held += bytes
    let left = bytes
    return () => {
      this.#held -= left
      left = 0
    }
  }
}

/** The delay is short, because any of the other calls may end at any moment. */
const TOO_MUCH = {
  detail: 'This gateway holds as many large requests as it can.',
  limit: 'memory',
  retryAfterSeconds: 1,
} as const
