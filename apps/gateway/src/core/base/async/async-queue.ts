export interface AsyncQueueOptions {
  /** Runs for each `next` that finds nothing to read, and not before the first: the producer may start, or read on. */
  readonly onWant?: () => void
  /** Runs once if the reader leaves before the end; `return` waits for what it returns. */
  readonly onLeave?: () => unknown
  /** Runs once, however the queue ends. */
  readonly onClose?: () => void
}

/**
 * A queue whose reader is an async iterator, such as the results of a subscription.
 *
 * It stands where an async generator would do otherwise, because `return` of a generator waits for its pending `next`: a client
 * that leaves while its source is silent would go unnoticed. Nor does a generator run anything if it is left before the first
 * `next`, so that what was acquired for it would never be released.
 *
 * How much it holds is up to its producer, which gives one value for each `onWant`, waits for {@link AsyncQueue.drained}, or
 * {@link AsyncQueue.replace | replaces} what was not read.
 */
export class AsyncQueue<Value> implements AsyncIterableIterator<Value, undefined> {
  readonly #options: AsyncQueueOptions
  /** Pending calls of `next`, in their order. There are none while there is something to read. */
  readonly #readers: PromiseWithResolvers<IteratorResult<Value, undefined>>[] = []
  #values: readonly Value[] = NOTHING
  /** The index of the value that is read next. */
  #index = 0
  #failure: { readonly error: unknown } | undefined
  #isClosed = false
  #onDrained: (() => void) | undefined

  constructor(options: AsyncQueueOptions = {}) {
    this.#options = options
  }

  /** Adds values behind those that were not read yet. */
  push(values: readonly Value[]): void {
    this.#give(this.#index < this.#values.length ? [...this.#values.slice(this.#index), ...values] : values)
  }

  /** Drops what was not read yet, so that a reader that is slower than the values gets the latest. */
  replace(value: Value): void {
    this.#give([value])
  }

  /** Ends the iteration after the values that were not read yet. */
  end(): void {
    this.#close()
  }

  /** Ends the iteration with an error, after the values that were not read yet. */
  fail(error: unknown): void {
    if (this.#isClosed) return
    const reader = this.#readers.shift()
    if (reader === undefined) this.#failure = { error }
    else reader.reject(error)
    this.#close()
  }

  /** Resolves when everything was read and the reader waits for more, or is over; undefined if that is so. */
  drained(): Promise<void> | undefined {
    if (this.#isClosed || this.#readers.length > 0) return undefined
    return new Promise((resolve) => {
      this.#onDrained = resolve
    })
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    if (this.#index < this.#values.length) return Promise.resolve(this.#take())
    const failure = this.#failure
    this.#failure = undefined
    // It is thrown once; later calls return the end, as with a generator.
    if (failure !== undefined) return Promise.reject(failure.error)
    if (this.#isClosed) return Promise.resolve(DONE)
    const reader = Promise.withResolvers<IteratorResult<Value, undefined>>()
    this.#readers.push(reader)
    this.#release()
    this.#options.onWant?.()
    return reader.promise
  }

  async return(): Promise<IteratorResult<Value, undefined>> {
    this.#values = NOTHING
    this.#failure = undefined
    if (!this.#isClosed) {
      this.#close()
      await this.#options.onLeave?.()
    }
    return DONE
  }

  async throw(error: unknown): Promise<IteratorResult<Value, undefined>> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #give(values: readonly Value[]): void {
    if (this.#isClosed) return
    this.#values = values
    this.#index = 0
    while (this.#index < this.#values.length) {
      const reader = this.#readers.shift()
      if (reader === undefined) return
      reader.resolve(this.#take())
    }
  }

  #take(): IteratorResult<Value, undefined> {
    const value = this.#values[this.#index] as Value
    this.#index += 1
    // A value may be large, and the next one may be long in coming.
    if (this.#index === this.#values.length) {
      this.#values = NOTHING
      this.#index = 0
    }
    return { value, done: false }
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const reader of this.#readers.splice(0)) reader.resolve(DONE)
    this.#release()
    this.#options.onClose?.()
  }

  #release(): void {
    const onDrained = this.#onDrained
    this.#onDrained = undefined
    onDrained?.()
  }
}

const NOTHING: readonly never[] = []
const DONE = { value: undefined, done: true } as const
