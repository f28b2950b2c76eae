const LATELY_MS = 30_000

interface Latest {
  readonly name: string
  readonly atMs: number
}

/** The last two callers with different names, which show whether a caller is the only one. */
export class LatestCallers {
  #latest: Latest | undefined
  /** The latest one with another name. */
  #other: Latest | undefined

  note(name: string, nowMs: number): void {
    if (this.#latest?.name !== name) this.#other = this.#latest
    this.#latest = { name, atMs: nowMs }
  }

  /** Whether no caller with another name has called in the last 30 seconds. */
  isAlone(name: string, nowMs: number): boolean {
    const other = this.#latest?.name === name ? this.#other : this.#latest
    return other === undefined || nowMs - other.atMs >= LATELY_MS
  }

  /** The last caller, if no other one had called in the 30 seconds before; undefined otherwise. */
  get sole(): string | undefined {
    const latest = this.#latest
    return latest !== undefined && this.isAlone(latest.name, latest.atMs) ? latest.name : undefined
  }
}
