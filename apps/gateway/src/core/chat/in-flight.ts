/**
 * What is under way, to be gone through now and then. No Set, because one outgrows its table every few dozen calls, and each
 * table refers to the next: once one is old, all that follow grow old with the calls they held. That was a tenth of all
 * memory allocated, and young collections took five times as long.
 */
export class InFlight<Item> {
  readonly #entries: { readonly item: Item; place: number }[] = []

  /** Gives what takes the item off again, once. */
  add(item: Item): () => void {
    const entry = { item, place: this.#entries.length }
    this.#entries.push(entry)
    return () => {
      const last = this.#entries.pop()
      if (last === undefined || last === entry) return
      last.place = entry.place
      this.#entries[entry.place] = last
    }
  }

  get size(): number {
    return this.#entries.length
  }

  /** As of now: items may leave while they are gone through. */
  all(): readonly Item[] {
    return this.#entries.map(({ item }) => item)
  }
}
