/** Sorts items by their places in a schema, each the positions on the way to it; equal places keep their order. */
export function byRank<Item>(
  items: readonly Item[],
  rankOf: (item: Item) => readonly number[],
): readonly Item[] {
  return items
    .map((item) => ({ item, rank: rankOf(item) }))
    .sort((one, other) => compare(one.rank, other.rank))
    .map(({ item }) => item)
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, position] of one.entries()) {
    const difference = position - (other[index] ?? -1)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}
