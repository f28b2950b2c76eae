/** Finds the longest of many lines, whose lengths change by one at a time. */
export class Longest<Line extends { length: number }> {
  readonly #linesOf = new Map<number, Set<Line>>()
  #length = 0

  /** The length of the longest. */
  get length(): number {
    return this.#length
  }

  /** One of the longest; undefined if there are no lines. */
  get any(): Line | undefined {
    const [line] = this.#linesOf.get(this.#length) ?? []
    return line
  }

  /** Sets the length of a line, which is forgotten when it becomes 0. */
  resize(line: Line, length: number): void {
    const before = this.#linesOf.get(line.length)
    before?.delete(line)
    if (before?.size === 0) this.#linesOf.delete(line.length)
    const wasLongest = line.length === this.#length && !this.#linesOf.has(line.length)
    line.length = length
    if (length > this.#length || wasLongest) this.#length = length
    if (length === 0) return
    const lines = this.#linesOf.get(length)
    if (lines === undefined) this.#linesOf.set(length, new Set([line]))
    else lines.add(line)
  }
}
