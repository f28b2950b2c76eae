import { setLongTimeout } from '../long-timeout.ts'

/**
 * Notices that a wait takes too long. Its one timer runs on while waits come and go, because setting one for each wait would cost
 * a stream of small pieces more than reading them does.
 */
export class IdleWatch {
  readonly #limitMs: number
  readonly #onIdle: () => void
  #waitsSinceMs: number | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** A limit of 0 or Infinity waits for ever. */
  constructor(limitMs: number, onIdle: () => void) {
    this.#limitMs = limitMs
    this.#onIdle = onIdle
  }

  begin(): void {
    this.#waitsSinceMs = performance.now()
    if (this.#timer === undefined && this.#limitMs > 0) this.#setTimer(this.#limitMs)
  }

  end(): void {
    this.#waitsSinceMs = undefined
  }

  /** Clears the timer, which would otherwise keep a process of Node alive. */
  close(): void {
    this.end()
    clearTimeout(this.#timer)
  }

  #setTimer(afterMs: number): void {
    this.#timer = setLongTimeout(afterMs, () => {
      this.#timer = undefined
      if (this.#waitsSinceMs === undefined) return
      const leftMs = this.#waitsSinceMs + this.#limitMs - performance.now()
      if (leftMs > 0) this.#setTimer(leftMs)
      else this.#onIdle()
    })
  }
}
