import type { ChatEvent } from '#core/agents/events.ts'
import type { Chat } from '#core/calls/chats.ts'

/** An admitted call that yields the given batches of events. */
export function chatOf(
  batches: Iterable<readonly ChatEvent[]> | AsyncIterable<readonly ChatEvent[]>,
  more: Partial<Chat> = {},
): Chat {
  return {
    callId: '01890a5d-ac96-774b-bcce-b302099a8057',
    conversationId: 'chat-1',
    model: 'dify',
    reasoning: false,
    takesParameters: false,
    ignoredTools: [],
    takesMessages: true,
    endUser: '',
    created: 1_700_000_000,
    events: {
      async read(take) {
        for await (const batch of batches) await take(batch)
      },
      leave: () => undefined,
    },
    ...more,
  }
}
