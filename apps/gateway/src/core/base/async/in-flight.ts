/**
 * The items in progress. This is not a `Set`, because V8 replaces the table of a set every few dozen additions and each
 * old table refers to its successor: once one table has been promoted to the old generation, it keeps all later ones alive
 * with the calls that they held. With a set this was a tenth of all memory allocated, and minor garbage collections took
 * five times as long.
 */
export class InFlight<Item> {
  readonly #entries: { readonly item: Item; place: number }[] = []

  /** Adds an item; returns the function that removes it, which must be called only once. */
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

  /** A snapshot: items may be removed while it is iterated. */
  all(): readonly Item[] {
    return this.#entries.map(({ item }) => item)
  }
}
