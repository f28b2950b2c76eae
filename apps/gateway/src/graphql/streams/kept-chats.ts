import { AsyncQueue } from '#core/async/async-queue.ts'
import { Problem, refuseField } from '#core/errors.ts'
import type { KeptReply } from '#core/replies/replies.ts'
import { problemOfKept } from '#core/replies/reply-run.ts'
import { keptCallRefOf } from '#http/chat/kept-request.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { showLimit } from '../serving/show-limit.ts'
import type { ChatItem, Numbered } from './chat-items.ts'
import { errorAsLastItem, type ItemOrError } from './item-or-error.ts'
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

/** The items of an earlier chat, for the API key that asked it. It counts as a read. */
export async function resumeChat(
  { callId, after }: { readonly callId: string; readonly after: number },
  context: GraphqlContext,
): Promise<AsyncIterableIterator<ItemOrError<NumberedItem>>> {
  const { http, services, signal } = context
  const caller = callerOf(context)
  if (after < 0) refuseField(['after'], 'must not be negative.')
  const endRead = await services.reads.begin(caller, showLimit(context), signal)
  try {
    const kept = await services.replies.resume(caller, keptCallRefOf(callId), 'items')
    http.callId = kept.call.callId
    return errorAsLastItem(followItems(kept, after))
  } finally {
    // A reply may go on for an hour, in which its owner reads other things.
    endRead()
  }
}
