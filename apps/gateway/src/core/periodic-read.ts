import { handled } from './handled.ts'
import type { Runtime } from './runtime.ts'

export interface PeriodicReadOptions {
  /** The least time between the end of one read and the begin of the next. */
  readonly everyMs: number
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
 * a database that is slow is asked less often, and one that is away is asked again in the next period.
 */
export class PeriodicRead {
  readonly #options: PeriodicReadOptions
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #answers = true
  #lastReadMs = Number.NEGATIVE_INFINITY

  constructor(options: PeriodicReadOptions) {
    this.#options = options
  }

  /** To be called when reads become needed. The first one comes after `delayMs`, or later if the last one has just ended. */
  start(delayMs = 0): void {
    const { everyMs, runtime } = this.#options
    const pauseMs = this.#isReading ? everyMs : this.#lastReadMs + everyMs - runtime.elapsedMs()
    this.#schedule(Math.max(delayMs, pauseMs))
  }

  /** To be called when reads are no longer needed. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#period(), delayMs)
  }

  #period(): void {
    const { everyMs, onPeriod, isNeeded } = this.#options
    onPeriod?.()
    if (!isNeeded()) return
    this.#schedule(everyMs)
    if (!this.#isReading) handled(this.#read())
  }

  async #read(): Promise<void> {
    const { everyMs, runtime, read, isNeeded } = this.#options
    this.#isReading = true
    try {
      await read()
      this.#setAnswers(true)
    } catch (error) {
      this.#setAnswers(false, error)
    }
    this.#isReading = false
    this.#lastReadMs = runtime.elapsedMs()
    // Counted from the end of the read, so that what two reads return is never closer than a period.
    if (isNeeded()) this.#schedule(everyMs)
  }

  #setAnswers(now: boolean, error?: unknown): void {
    if (now !== this.#answers) this.#options.onAnswer(now, error)
    this.#answers = now
  }
}
