/**
 * A cache of values that can be made again. Once it is full it is emptied, which costs less on the path of a call than
 * keeping an order by which single entries could be dropped.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    super()
    this.#entriesMax = entriesMax
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.#entriesMax && !this.has(key)) this.clear()
    return super.set(key, value)
  }
}
