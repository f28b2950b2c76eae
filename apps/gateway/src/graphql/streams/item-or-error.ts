import { AsyncQueue } from '#core/base/async/async-queue.ts'

/** An item of a subscription, or the error with which it ends. */
export type ItemOrError<Item> = { readonly item: Item } | { readonly error: unknown }

/**
 * Turns the error of an iterator into a last item, whose resolver throws it, so that a subscription ends with an error item
 * that has a path and `extensions.code`.
 */
export function errorAsLastItem<Item>(
  items: AsyncIterator<Item, unknown>,
): AsyncIterableIterator<ItemOrError<Item>> {
  const results = new AsyncQueue<ItemOrError<Item>>({
    onWant() {
      items.next().then(
        ({ value, done }) => (done ? results.end() : results.push([{ item: value as Item }])),
        (error: unknown) => results.push([{ error }]),
      )
    },
    onLeave: () => items.return?.(),
  })
  return results
}

/** The item; throws the error of the last one. */
export function itemOrThrow<Item>(itemOrError: ItemOrError<Item>): Item {
  if ('error' in itemOrError) throw itemOrError.error
  return itemOrError.item
}
