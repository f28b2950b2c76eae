const ENTRIES_MAX = 1_000

/** A map that forgets the oldest of more than 1,000 entries, because load tests run for a long time. */
export class RecentMap<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    super.set(key, value)
    const oldest = this.keys().next()
    if (this.size > ENTRIES_MAX && !oldest.done) this.delete(oldest.value)
    return this
  }
}
