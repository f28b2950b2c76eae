import { fail } from '#core/errors/errors.ts'

/** The most open streams of one API key; undefined for no limit. It may change while streams are open. */
export interface StreamLimit {
  readonly streamsPerKey?: number | undefined
}

/** Bounds the number of streams that an API key holds open at once in this process. */
export class OpenStreams {
  readonly #limit: StreamLimit
  readonly #counts = new Map<string, number>()

  constructor(limit: StreamLimit) {
    this.#limit = limit
  }

  /**
   * Counts a stream of the key until {@link OpenStreams.close}, which must be called once.
   *
   * @throws Problem `rate_limited` if the key already holds the maximum
   */
  open(keyHash: string): void {
    const perKeyMax = this.#limit.streamsPerKey
    const count = this.#counts.get(keyHash) ?? 0
    if (perKeyMax !== undefined && count >= perKeyMax) {
      fail('rate_limited', {
        detail: `The API key holds ${perKeyMax} streams open, which is the maximum.`,
        limit: 'streams_per_key',
        retryAfterSeconds: 1,
      })
    }
    this.#counts.set(keyHash, count + 1)
  }

  /** It is no function that {@link OpenStreams.open} returns, because every open stream would keep one. */
  close(keyHash: string): void {
    const count = this.#counts.get(keyHash) ?? 0
    if (count > 1) this.#counts.set(keyHash, count - 1)
    else this.#counts.delete(keyHash)
  }
}
