import type { Runtime } from '#core/base/runtime.ts'
import { markRejectionHandled } from './mark-rejection-handled.ts'

export interface PeriodicReadOptions {
  readonly everyMs: number
  /**
   * Whether {@link everyMs} is the least time between the end of one read and the begin of the next, which is the default, or
   * that between their begins, for reads whose results must not be older than that.
   */
  readonly paced?: 'by pauses' | 'by begins'
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** Called in each period, before the read and also while one is still running. */
  readonly onPeriod?: () => void
  readonly isNeeded: () => boolean
  readonly read: () => Promise<void>
  /** Called when reads begin to fail, and when they succeed again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
}

/**
 * Reads from the database again and again while the result is needed, and not at all otherwise. There is one read at a time:
 * a slow database is read less often, and an unreachable database is retried in the next period. The timer does not keep the
 * process alive.
 */
export class PeriodicRead {
  readonly #options: PeriodicReadOptions
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #answers = true
  /** When the last read ended or began, whichever its pace is counted from. */
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(options: PeriodicReadOptions) {
    this.#options = options
  }

  /** To be called when reads become needed. The first one comes after `delayMs`, or later if the last one has just ended. */
  start(delayMs = 0): void {
    const { everyMs, runtime } = this.#options
    const pauseMs = this.#isReading ? everyMs : this.#lastMs + everyMs - runtime.elapsedMs()
    this.#schedule(Math.max(delayMs, pauseMs))
  }

  /** To be called when reads are no longer needed. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#period(), delayMs).unref()
  }

  #period(): void {
    const { everyMs, onPeriod, isNeeded } = this.#options
    onPeriod?.()
    if (!isNeeded()) return
    this.#schedule(everyMs)
    if (!this.#isReading) markRejectionHandled(this.#read())
  }

  async #read(): Promise<void> {
    const { everyMs, paced = 'by pauses', runtime, read, isNeeded } = this.#options
    this.#isReading = true
    this.#lastMs = runtime.elapsedMs()
    try {
      await read()
      this.#setAnswers(true)
    } catch (error) {
      this.#setAnswers(false, error)
    }
    this.#isReading = false
    if (paced === 'by begins') return
    this.#lastMs = runtime.elapsedMs()
    // What two reads return is never closer than a period.
    if (isNeeded()) this.#schedule(everyMs)
  }

  #setAnswers(now: boolean, error?: unknown): void {
    if (now !== this.#answers) this.#options.onAnswer(now, error)
    this.#answers = now
  }
}
