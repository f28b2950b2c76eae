import type { Runtime } from '#core/base/runtime.ts'

/** How long the platform of one call waits in all for its log to be stored. */
export const PAUSED_MS_MAX = 5_000

/**
 * Lets the platform of a call wait while its log is stored. All pauses of a call together are bounded, because its readers get
 * nothing new meanwhile.
 */
export class FlushPause {
  readonly #runtime: Pick<Runtime, 'elapsedMs'>
  #sinceMs: number | undefined
  #earlierMs = 0
  #resume: (() => void) | undefined

  constructor(runtime: Pick<Runtime, 'elapsedMs'>) {
    this.#runtime = runtime
  }

  /** When the pause has begun, on the clock of `elapsedMs`; undefined while the platform does not wait. */
  get sinceMs(): number | undefined {
    return this.#sinceMs
  }

  /** Whether the platform has waited as long as it may. */
  get isSpent(): boolean {
    const nowMs = this.#sinceMs === undefined ? 0 : this.#runtime.elapsedMs() - this.#sinceMs
    return this.#earlierMs + nowMs >= PAUSED_MS_MAX
  }

  /** Resolves when the platform may go on. */
  begin(): Promise<void> {
    this.#sinceMs = this.#runtime.elapsedMs()
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  end(): void {
    if (this.#sinceMs === undefined) return
    this.#earlierMs += this.#runtime.elapsedMs() - this.#sinceMs
    this.#sinceMs = undefined
    this.#resume?.()
    this.#resume = undefined
  }
}
