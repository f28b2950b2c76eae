import { AsyncQueue } from '#core/base/async/async-queue.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOfKept } from '#core/reply-log/kept-problem.ts'
import type { KeptReply } from '#core/reply-log/replies.ts'
import type { ChatItem, Numbered } from './chat-items.ts'
import { parseItems } from './kept-items.ts'

export type NumberedItem = ChatItem & Numbered

/**
 * The items of a kept chat after one of them. They end with an error if the chat has failed, and if their rest is not to be had
 * here. Leaving them does not stop the chat.
 */
export function followItems(
  { follow }: Pick<KeptReply, 'follow'>,
  after = 0,
): AsyncIterableIterator<NumberedItem, undefined> {
  const left = new AbortController()
  let isReading = false
  const items = new AsyncQueue<NumberedItem>({
    onWant() {
      if (isReading) return
      isReading = true
      read().then(
        () => items.end(),
        (error: unknown) => items.fail(error),
      )
    },
    onLeave: () => left.abort(),
  })

  async function read(): Promise<void> {
    let last = after
    const end = await follow({
      after,
      signal: left.signal,
      take(text) {
        const taken: NumberedItem[] = []
        let failure: Problem | undefined
        for (const item of parseItems(text)) {
          last += 1
          if (item.type === 'failed') failure = problemOfKept(item.problem)
          else taken.push({ ...item, sequence: last })
        }
        items.push(taken)
        if (failure !== undefined) throw failure
        return items.drained()
      },
    })
    if (end.kind === 'ended') {
      if (end.end.outcome === 'interrupted') throw new Problem('interrupted')
    } else if (!left.signal.aborted) {
      throw new Problem(end.kind === 'gone' ? 'reply_gone' : 'draining')
    }
  }

  return items
}
