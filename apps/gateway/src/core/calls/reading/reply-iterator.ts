import type { ChatEvent, ChatEvents } from '#core/agents/events.ts'
import { AsyncQueue } from '#core/base/async/async-queue.ts'

/**
 * Converts a reply to an async iterator over what its events become, for faces whose library pulls (subscriptions). The request
 * is sent to the platform when everything of `first` has been taken, and the platform is not read further until everything of
 * a batch has been taken, so that a slow consumer holds at most one batch. A failed reply rejects after the items that came
 * before the failure. Leaving early (`break`, `return`, `throw`) cancels the call, also while the platform is silent.
 */
export function replyIterator<Item>(
  events: ChatEvents,
  itemsOf: (event: ChatEvent) => readonly Item[],
  first: readonly Item[] = [],
): AsyncIterableIterator<Item, undefined> {
  let isReading = false
  const items = new AsyncQueue<Item>({
    onWant() {
      if (isReading) return
      isReading = true
      events
        .read((batch) => {
          items.push(batch.flatMap((event) => itemsOf(event)))
          return items.drained()
        })
        .then(
          () => items.end(),
          (error: unknown) => items.fail(error),
        )
    },
    onLeave: () => events.leave(),
  })
  items.push(first)
  return items
}
