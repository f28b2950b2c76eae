/**
 * An async iterator over the latest of the values that are set. A reader that is slower than the values misses those in
 * between, so that nothing is queued for it.
 */
export class LatestValue<Value> implements AsyncIterableIterator<Value, undefined> {
  readonly #onClose: () => void
  readonly #waiting: PromiseWithResolvers<IteratorResult<Value, undefined>>[] = []
  #pending: { readonly value: Value } | undefined
  #failure: { readonly error: unknown } | undefined
  #isClosed = false

  /** @param onClose - runs once, when the reader leaves or {@link LatestValue.fail} is called */
  constructor(onClose: () => void = () => undefined) {
    this.#onClose = onClose
  }

  set(value: Value): void {
    if (this.#isClosed) return
    const reader = this.#waiting.shift()
    if (reader === undefined) this.#pending = { value }
    else reader.resolve({ value, done: false })
  }

  /** Ends the iteration with an error, after a value that has not been read yet. */
  fail(error: unknown): void {
    if (this.#isClosed) return
    const reader = this.#waiting.shift()
    if (reader === undefined) this.#failure = { error }
    else reader.reject(error)
    this.#close()
  }

  async next(): Promise<IteratorResult<Value, undefined>> {
    const [pending, failure] = [this.#pending, this.#failure]
    if (pending !== undefined) {
      this.#pending = undefined
      return { value: pending.value, done: false }
    }
    if (failure !== undefined) {
      this.#failure = undefined
      throw failure.error
    }
    if (this.#isClosed) return DONE
    const reader = Promise.withResolvers<IteratorResult<Value, undefined>>()
    this.#waiting.push(reader)
    return reader.promise
  }

  async return(): Promise<IteratorResult<Value, undefined>> {
    this.#pending = undefined
    this.#failure = undefined
    this.#close()
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const reader of this.#waiting.splice(0)) reader.resolve(DONE)
    this.#onClose()
  }
}

const DONE = { value: undefined, done: true } as const
