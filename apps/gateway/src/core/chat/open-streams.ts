import { fail } from '#core/errors.ts'

/** How many streams each API key holds open in this process. */
export class OpenStreams {
  readonly #perKeyMax: number
  readonly #counts = new Map<string, number>()

  /** Undefined: a key may hold as many as it opens. */
  constructor(perKeyMax: number | undefined) {
    this.#perKeyMax = perKeyMax ?? Number.POSITIVE_INFINITY
  }

  /**
   * Counts one more stream of the key; returns what takes it off again, once.
   *
   * @throws Problem `rate_limited` where the key holds as many as it may
   */
  open(keyHash: string): (() => void) | undefined {
    // Without a bound nobody asks for the count, so it is not kept.
    if (this.#perKeyMax === Number.POSITIVE_INFINITY) return undefined
    const count = this.#counts.get(keyHash) ?? 0
    if (count >= this.#perKeyMax) {
      fail('rate_limited', {
        detail: `The API key holds ${this.#perKeyMax} streams open, which is as many as it may.`,
        retryAfterSeconds: 1,
      })
    }
    this.#counts.set(keyHash, count + 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#close(keyHash)
      isOpen = false
    }
  }

  #close(keyHash: string): void {
    const count = this.#counts.get(keyHash) ?? 0
    if (count > 1) this.#counts.set(keyHash, count - 1)
    else this.#counts.delete(keyHash)
  }
}
