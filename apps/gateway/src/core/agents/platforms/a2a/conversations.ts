import type {
  ConversationCalls,
  EntrySchemas,
  HelperCall,
  PlatformConversation,
  PlatformMessage,
} from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { failureOf } from '#core/agents/translate/failure.ts'
import { type JsonObject, listOf, objectOf, textOf, toJson } from '#core/base/values/json.ts'
import type { A2aCard } from './card.ts'
import { a2aRefusal, isUnknownTask } from './failures.ts'
import { readParts } from './parts.ts'
import { newState, updateEvents } from './task.ts'
import { cardOf, errorOf, getRequest, tolerant, updateOf } from './wire.ts'

type Conversation = PlatformConversation<EntrySchemas, A2aCard>

/**
 * What can be asked of a conversation: the tasks that it consists of. The protocol has no call that deletes one, nor names or ratings.
 */
export const a2aConversations: ConversationCalls<EntrySchemas, A2aCard> = { turn }

/** So many messages of a task are read: its questions, and what was said while it worked. */
const MESSAGES_MAX = 100

/** A task has its messages in its history, as far as its agent keeps them, and its answer in its artifacts and its status. */
function turn(conversation: Conversation, answerId: string): HelperCall<readonly PlatformMessage[]> {
  const accept = (body: JsonObject) => {
    const error = errorOf(body)
    if (error !== undefined) return isUnknownTask(error) ? { ok: [] } : undefined
    const update = updateOf(body)
    return update?.kind === 'task' && textOf(update.task.id) === answerId
      ? { ok: messagesOf(update.task, conversation) }
      : undefined
  }
  const call: HelperCall<readonly PlatformMessage[]> = {
    request: getRequest(conversation, cardOf(conversation), answerId, MESSAGES_MAX),
    read(status, body, header) {
      const read = status < 400 ? accept(objectOf(body)) : undefined
      if (read !== undefined) return read
      const isError = status >= 400 || errorOf(objectOf(body)) !== undefined
      return {
        failure: isError ? a2aRefusal(status, body, header, false) : failureOf('agent_malformed', { status }),
      }
    },
  }
  return tolerant(call, (body) => {
    const error = errorOf(body)
    return error !== undefined && isUnknownTask(error) ? { ok: [] } : undefined
  })
}

function messagesOf(task: JsonObject, conversation: Conversation): readonly PlatformMessage[] {
  const { agent, platformConversationId } = conversation
  const context = textOf(task.contextId)
  if (context !== undefined && context !== platformConversationId) return []
  const history = listOf(task.history).map(objectOf)
  const asked = history.flatMap((message, index) => {
    if (isOfUser(message)) return said(message, 'user', agent)
    // What an agent said before the user has answered was a question; the rest was said about its work.
    const next = history[index + 1]
    return next !== undefined && isOfUser(next) ? said(message, 'assistant', agent) : []
  })
  return [...asked, ...answerOf(task, conversation)]
}

/** In the words of either version. */
function isOfUser({ role }: JsonObject): boolean {
  return role === 'user' || role === 'ROLE_USER'
}

function said(
  message: JsonObject,
  role: PlatformMessage['role'],
  agent: Conversation['agent'],
): readonly PlatformMessage[] {
  const { text, files, data } = readParts(message)
  const words = text === '' ? data.map((each) => toJson(each) ?? '').join('\n\n') : text
  const events: readonly ChatEvent[] = [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...files.map((file) => ({ type: 'file', file }) as const),
  ]
  return platformMessage(agent, { id: message.messageId, role, said: events })
}

/** The task is read as a reply that consists of it, so that the answer is the same text. */
function answerOf(task: JsonObject, conversation: Conversation): readonly PlatformMessage[] {
  const { platformConversationId } = conversation
  const events = updateEvents({ kind: 'task', task }, newState({ platformConversationId }), false)
  const { timestamp: createdAt } = objectOf(task.status)
  const { id } = task
  const answer = { id, role: 'assistant', said: events, createdAt, answerId: id } as const
  return platformMessage(conversation.agent, answer)
}
