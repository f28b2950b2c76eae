import { fail } from '#core/errors.ts'

/** Bounds the number of streams that an API key holds open at once in this process. */
export class OpenStreams {
  readonly #perKeyMax: number
  readonly #counts = new Map<string, number>()

  /** @param perKeyMax - undefined for no limit */
  constructor(perKeyMax: number | undefined) {
    this.#perKeyMax = perKeyMax ?? Number.POSITIVE_INFINITY
  }

  /**
   * Counts a stream of the key. Returns the function that ends the stream, or undefined if there is no limit.
   *
   * @throws Problem `rate_limited` if the key already holds the maximum
   */
  open(keyHash: string): (() => void) | undefined {
    // Without a limit the counts are never read, so they are not maintained.
    if (this.#perKeyMax === Number.POSITIVE_INFINITY) return undefined
    const count = this.#counts.get(keyHash) ?? 0
    if (count >= this.#perKeyMax) {
      fail('rate_limited', {
        detail: `The API key holds ${this.#perKeyMax} streams open, which is the maximum.`,
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
