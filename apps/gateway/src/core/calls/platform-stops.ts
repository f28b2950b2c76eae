import pLimit from 'p-limit'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/**
 * The most stop requests at once for calls that end with their key, of which one suspension may end thousands. Those of
 * clients that leave do not wait behind them.
 */
const IN_TURN_AT_ONCE = 100

/** The requests that stop runs at platforms and have not been answered yet. A process that drains waits for them. */
export class StopRequests {
  readonly #pending = new Set<Promise<void>>()
  readonly #turns = pLimit(IN_TURN_AT_ONCE)

  /** Waits for its turn behind other requests that do, and then sends the request. */
  inTurn<Result>(send: () => Promise<Result>): Promise<Result> {
    return this.#turns(send)
  }

  /** Counts work as pending until it has ended. */
  add(work: Promise<void>): void {
    const stopped = markRejectionHandled(work.finally(() => this.#pending.delete(stopped)))
    this.#pending.add(stopped)
  }

  sendAllAtOnce(): void {
    this.#turns.concurrency = Number.POSITIVE_INFINITY
  }

  async allSent(): Promise<void> {
    await Promise.all(this.#pending)
  }
}
