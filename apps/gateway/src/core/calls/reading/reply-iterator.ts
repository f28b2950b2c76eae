import type { ChatEvent, ChatEvents } from '#core/agents/events.ts'

/**
 * Converts a reply to an async iterator over its events, for faces whose library pulls events (subscriptions). The request
 * is sent to the platform with the first `next`, and the platform is not read further until every event of a batch has been
 * taken, so that a slow consumer holds at most one batch. A failed reply rejects after the events that came before the
 * failure. Leaving early (`break`, `return`, `throw`) cancels the call.
 *
 * This is not a generator, because the `return` of a generator waits for its pending `next`: a client that leaves while the
 * platform is silent would go unnoticed until the platform sends something.
 */
export function toAsyncIterable(events: ChatEvents): AsyncIterableIterator<ChatEvent, undefined> {
  return new EventIterator(events)
}

type Result = IteratorResult<ChatEvent, undefined>

const DONE: Result = { done: true, value: undefined }

class EventIterator implements AsyncIterableIterator<ChatEvent, undefined> {
  readonly #events: ChatEvents
  #isReading = false
  #isOver = false
  /** Set when the reply has failed, until the error has been thrown. */
  #failure: { readonly error: unknown } | undefined
  #batch: readonly ChatEvent[] = []
  #nextIndex = 0
  /** Resumes reading; set while the reply waits for its batch to be taken. */
  #readOn: (() => void) | undefined
  /** Pending calls of `next`, in their order. */
  readonly #waiting: PromiseWithResolvers<Result>[] = []

  constructor(events: ChatEvents) {
    this.#events = events
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    const event = this.#shift()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#isOver) return this.#ending()
    const waiting = Promise.withResolvers<Result>()
    this.#waiting.push(waiting)
    this.#release()
    if (!this.#isReading) this.#read()
    return waiting.promise
  }

  return(): Promise<Result> {
    this.#leave()
    return Promise.resolve(DONE)
  }

  throw(error: unknown): Promise<Result> {
    this.#leave()
    return Promise.reject(error)
  }

  #read(): void {
    this.#isReading = true
    this.#events
      .read((batch) => this.#take(batch))
      .then(
        () => this.#end(undefined),
        (error: unknown) => this.#end({ error }),
      )
  }

  #take(batch: readonly ChatEvent[]): Promise<void> | undefined {
    if (this.#isOver) return undefined
    this.#batch = batch
    this.#nextIndex = 0
    while (this.#waiting.length > 0) {
      const event = this.#shift()
      if (event === undefined) return undefined
      this.#waiting.shift()?.resolve({ done: false, value: event })
    }
    return new Promise((resolve) => {
      this.#readOn = resolve
    })
  }

  #shift(): ChatEvent | undefined {
    const event = this.#batch[this.#nextIndex]
    this.#nextIndex += 1
    return event
  }

  #release(): void {
    const readOn = this.#readOn
    this.#readOn = undefined
    readOn?.()
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    for (const waiting of this.#waiting.splice(0)) this.#ending().then(waiting.resolve, waiting.reject)
  }

  /** The failure is thrown once; later calls return the end, as with a generator. */
  #ending(): Promise<Result> {
    const failure = this.#failure
    this.#failure = undefined
    return failure === undefined ? Promise.resolve(DONE) : Promise.reject(failure.error)
  }

  #leave(): void {
    this.#batch = []
    this.#failure = undefined
    if (this.#isOver) return
    this.#isOver = true
    this.#events.leave()
    this.#release()
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(DONE)
  }
}
