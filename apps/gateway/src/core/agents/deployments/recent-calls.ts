/** Each slot is one second. */
const SLOTS = 30
const SLOT_MS = 1_000

/**
 * How many calls of the last 30 seconds there were, and how many of them failed. Time is rounded down to seconds, so that a call
 * counts for 29 to 30 seconds; it also passes while there are no calls.
 */
export class RecentCalls {
  readonly #callsIn = new Uint32Array(SLOTS)
  readonly #failuresIn = new Uint32Array(SLOTS)
  /** The second of the newest slot. */
  #second = 0
  #calls = 0
  #failures = 0

  get calls(): number {
    return this.#calls
  }

  get failures(): number {
    return this.#failures
  }

  add(hasFailed: boolean, nowMs: number): void {
    this.#age(Math.floor(nowMs / SLOT_MS))
    const slot = this.#second % SLOTS
    this.#callsIn[slot] = this.#callsOf(slot) + 1
    this.#calls += 1
    if (!hasFailed) return
    this.#failuresIn[slot] = this.#failuresOf(slot) + 1
    this.#failures += 1
  }

  clear(): void {
    this.#callsIn.fill(0)
    this.#failuresIn.fill(0)
    this.#calls = 0
    this.#failures = 0
  }

  #age(second: number): void {
    if (second <= this.#second) return
    if (second - this.#second >= SLOTS) {
      this.clear()
    } else {
      for (let each = this.#second + 1; each <= second; each += 1) this.#empty(each % SLOTS)
    }
    this.#second = second
  }

  #empty(slot: number): void {
    this.#calls -= this.#callsOf(slot)
    this.#failures -= this.#failuresOf(slot)
    this.#callsIn[slot] = 0
    this.#failuresIn[slot] = 0
  }

  #callsOf(slot: number): number {
    return this.#callsIn[slot] ?? 0
  }

  #failuresOf(slot: number): number {
    return this.#failuresIn[slot] ?? 0
  }
}
