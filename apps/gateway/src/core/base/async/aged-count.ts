/** How many began to wait within one period. */
export interface Period {
  readonly startedMs: number
  waiting: number
}

/**
 * Counts what waits, and knows for how long the oldest has waited. A set would cost every call what is described at `InFlight`,
 * so they are counted in two periods: when all of the older one are done, the newer one takes its place, and another begins.
 * The age is therefore never too small. It is too large after a long wait, until what waited beside that one is done as well.
 */
export class AgedCount {
  readonly #elapsedMs: () => number
  #older: Period | undefined
  #newer: Period | undefined

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  get count(): number {
    return (this.#older?.waiting ?? 0) + (this.#newer?.waiting ?? 0)
  }

  /** For how long the oldest has waited; 0 if there is none. */
  get oldestMs(): number {
    return this.#older === undefined ? 0 : this.#elapsedMs() - this.#older.startedMs
  }

  /** Counts one that begins to wait; {@link remove} takes what it returns. */
  add(): Period {
    const period = this.#current()
    period.waiting += 1
    return period
  }

  remove(period: Period): void {
    period.waiting -= 1
    if (this.#older?.waiting !== 0) return
    this.#older = this.#newer?.waiting === 0 ? undefined : this.#newer
    this.#newer = undefined
  }

  #current(): Period {
    const begin = () => ({ startedMs: this.#elapsedMs(), waiting: 0 })
    if (this.#older === undefined) {
      this.#older = begin()
      return this.#older
    }
    this.#newer ??= begin()
    return this.#newer
  }
}
