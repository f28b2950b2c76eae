const EVERY_MS = 100

/** Measures how late the event loop comes to a timer. */
export class EventLoopWatch {
  readonly #late: (ms: number) => void
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0

  constructor(late: (ms: number) => void) {
    this.#late = late
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#dueMs = performance.now() + EVERY_MS
    this.#timer = setInterval(() => this.#measure(), EVERY_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Timers have whole milliseconds, so one may come a moment too early. */
  #measure(): void {
    const nowMs = performance.now()
    this.#late(Math.max(0, nowMs - this.#dueMs))
    this.#dueMs = nowMs + EVERY_MS
  }
}
