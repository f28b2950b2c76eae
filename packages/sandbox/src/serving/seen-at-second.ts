import { type Seen, SeenLog, type SeenRun, type SeenStop } from './seen.ts'

/**
 * The log of a second address of a platform. The requests are its own; runs and stop calls are those of the platform, which are
 * the same at all of its addresses.
 */
export class SeenAtSecond extends SeenLog {
  override readonly runs: SeenRun[]
  override readonly stops: SeenStop[]
  readonly #platform: SeenLog

  constructor(platform: SeenLog) {
    super()
    this.#platform = platform
    this.runs = platform.runs
    this.stops = platform.stops
  }

  override waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>> {
    return this.#platform.waitFor(() => find(this))
  }

  override changed(): void {
    this.#platform.changed()
  }
}
