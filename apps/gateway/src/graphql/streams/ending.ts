/** An item of a subscription, or the error with which it ends. */
export type Ending<Item> = { readonly item: Item } | { readonly error: unknown }

const DONE = { value: undefined, done: true } as const

/**
 * Turns the error of an iterator into a last item, whose resolver throws it, so that a subscription ends with an error item
 * that has a path and `extensions.code`. It is no generator, because leaving a generator waits for its next item.
 */
export function withLastError<Item>(
  items: AsyncIterator<Item, unknown>,
): AsyncIterableIterator<Ending<Item>> {
  return {
    next: () =>
      items.next().then(
        ({ value, done }) => (done ? DONE : { value: { item: value as Item }, done: false }),
        (error: unknown) => ({ value: { error }, done: false }),
      ),
    return: async () => {
      await items.return?.()
      return DONE
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** The item; throws the error of the last one. */
export function itemOf<Item>(ending: Ending<Item>): Item {
  if ('error' in ending) throw ending.error
  return ending.item
}
