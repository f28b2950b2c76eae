const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 30_000
/** A worker that ran for this long had started well. */
const STABLE_MS = 60_000

/** The delay before a worker that died is replaced: longer each time that one dies soon after its start. */
export class RestartDelay {
  #earlyDeaths = 0

  /** Returns the delay after a worker died that had run for `ranMs`. */
  next(ranMs: number): number {
    this.#earlyDeaths = ranMs < STABLE_MS ? this.#earlyDeaths + 1 : 1
    return Math.min(DELAY_MS_MIN * 2 ** (this.#earlyDeaths - 1), DELAY_MS_MAX)
  }
}
