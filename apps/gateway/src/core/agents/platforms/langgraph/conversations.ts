import type {
  ConversationCalls,
  HeaderReader,
  HelperCall,
  PlatformConversation,
  PlatformHistory,
  PlatformMessage,
} from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { atPlace, reading, removal } from '#core/agents/translate/conversations/conversation-call.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { failureOf, isPage } from '#core/agents/translate/failure.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { isObject, type JsonObject, objectOf } from '#core/base/values/json.ts'
import type { ENTRY } from './entry.ts'
import { refusal } from './failures.ts'
import { contentOf, isOfModel, isOfUser } from './frames.ts'
import { credentials, threadOf } from './wire.ts'

type Thread = PlatformConversation<typeof ENTRY>

/** What can be asked of a thread. It has no name, and its messages take no ratings. */
export const langgraphConversations: ConversationCalls<typeof ENTRY> = { history, remove }

/**
 * A page is cut out of the messages in the state of the thread, which has all of them. The cursor is the number of messages before
 * the page.
 */
function history(
  thread: Thread,
  { limit, before }: { readonly limit: number; readonly before?: string },
): HelperCall<PlatformHistory> {
  const request = { method: 'GET', url: `${urlOf(thread)}/state`, headers: credentials(thread) } as const
  return atPlace(before, (end) =>
    reading(request, toFailure, ({ values }) => {
      if (!isObject(values) && values !== null) return undefined
      const { messages = [] } = objectOf(values)
      if (!Array.isArray(messages)) return undefined
      const said = messagesOf(messages, thread).slice(0, end)
      const begin = Math.max(said.length - limit, 0)
      return { ok: { items: said.slice(begin), ...(begin > 0 && { before: String(begin) }) } }
    }),
  )
}

/** Of what the model says between two questions, the last text is the answer, as it is in a reply. */
function messagesOf(messages: readonly unknown[], { agent }: Thread): readonly PlatformMessage[] {
  const said: PlatformMessage[] = []
  for (const each of messages) {
    const message = objectOf(each)
    const { id } = message
    if (isOfUser(message)) {
      said.push(...platformMessage(agent, { id, role: 'user', said: eventsOf(message) }))
    } else if (isOfModel(message)) {
      const answer = { id, role: 'assistant', said: eventsOf(message), answerId: id } as const
      const read = platformMessage(agent, answer)
      if (read.length > 0 && said.at(-1)?.role === 'assistant') said.pop()
      said.push(...read)
    }
  }
  return said
}

function eventsOf(message: JsonObject): readonly ChatEvent[] {
  return textEvent('text', contentOf(message))
}

function remove(thread: Thread): HelperCall<void> {
  return removal({
    request: { method: 'DELETE', url: urlOf(thread), headers: credentials(thread) },
    // The reply is empty.
    read: (status, body, header) =>
      status < 300 ? { ok: undefined } : { failure: toFailure(status, body, header) },
  })
}

function urlOf(thread: Thread): string {
  return `${thread.agent.baseUrl}/threads/${threadOf(thread)}`
}

/** Nothing but the thread can be missing here. */
function toFailure(status: number, body: unknown, header: HeaderReader): Failure {
  if (status === 404 && !isPage(body)) return failureOf('conversation_not_found', { status })
  return refusal(status, body, header)
}
