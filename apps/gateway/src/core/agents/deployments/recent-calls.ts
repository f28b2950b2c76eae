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
  /** The second that each slot has counted. */
  readonly #secondOf = new Uint32Array(SLOTS)

  add(hasFailed: boolean, nowMs: number): void {
    const second = Math.floor(nowMs / SLOT_MS)
    const slot = second % SLOTS
    const isFirst = this.#secondOf[slot] !== second
    this.#secondOf[slot] = second
    this.#callsIn[slot] = (isFirst ? 0 : (this.#callsIn[slot] ?? 0)) + 1
    this.#failuresIn[slot] = (isFirst ? 0 : (this.#failuresIn[slot] ?? 0)) + (hasFailed ? 1 : 0)
  }

  count(nowMs: number): { readonly calls: number; readonly failures: number } {
    const oldest = Math.floor(nowMs / SLOT_MS) - SLOTS + 1
    let calls = 0
    let failures = 0
    for (const [slot, second] of this.#secondOf.entries()) {
      if (second < oldest) continue
      calls += this.#callsIn[slot] ?? 0
      failures += this.#failuresIn[slot] ?? 0
    }
    return { calls, failures }
  }

  clear(): void {
    this.#callsIn.fill(0)
    this.#failuresIn.fill(0)
  }
}
