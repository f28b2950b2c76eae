import type { Logger } from 'pino'
import type { EngineObserver } from '#core/database/embedded/engine.ts'

/** Logs what happens to the engine of an embedded database, and counts it for the metrics. */
export class EngineReport implements EngineObserver {
  readonly #log: Logger
  #losses = 0
  #isReported = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** How often the engine had to be opened again. */
  get losses(): number {
    return this.#losses
  }

  made(folder: string): void {
    this.#log.info({ folder }, 'a new embedded database was made')
  }

  lost(error: Error): void {
    this.#losses += 1
    this.#isReported = false
    this.#log.error({ err: error }, 'the embedded database was lost and is being opened again')
  }

  /** Attempts follow each other every few seconds, as long as the cause lasts, so only the first one is logged. */
  notReopened(error: unknown): void {
    if (!this.#isReported) this.#log.error({ err: error }, 'the embedded database cannot be opened again yet')
    this.#isReported = true
  }

  reopened(): void {
    this.#log.info('the embedded database is open again')
  }
}
