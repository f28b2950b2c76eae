import type { ChatEvent } from '#core/chat/events.ts'
import type { Chat } from '#core/chat/service.ts'
import type { Problem } from '#core/errors.ts'

/** For tests: an admitted call whose batches of events are given. */
export function chatOf(
  batches: Iterable<readonly ChatEvent[]> | AsyncIterable<readonly ChatEvent[]>,
  more: Partial<Chat> = {},
): Chat & { readonly thrown: Problem[] } {
  const thrown: Problem[] = []
  const events = (async function* () {
    yield* batches
  })()
  return {
    callId: '01890a5d-ac96-774b-bcce-b302099a8057',
    conversationId: 'chat-1',
    model: 'dify',
    reasoning: false,
    created: 1_700_000_000,
    thrown,
    events: Object.assign(events, {
      throw(problem: Problem) {
        thrown.push(problem)
        return Promise.reject(problem)
      },
    }),
    ...more,
  }
}
