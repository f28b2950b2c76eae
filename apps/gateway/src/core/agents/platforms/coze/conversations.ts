import type {
  AnswerRating,
  ConversationCalls,
  HelperCall,
  PlatformConversation,
  PlatformHistory,
  PlatformMessage,
  UpstreamRequest,
} from '#core/agents/adapter.ts'
import { reading, removal } from '#core/agents/translate/conversations/conversation-call.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { refusalReader } from '#core/agents/translate/failure.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { platformIdOf } from '#core/agents/translate/platform-id.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { type JsonObject, objectOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { contentIn } from './content.ts'
import { cozeCode, cozeFailure } from './failures.ts'

/** What can be asked of a conversation. The clouds keep its messages for 180 days. */
export const cozeConversations: ConversationCalls = { history, remove, rate }

/** An unknown conversation is reported as any missing resource. */
const toFailure = refusalReader((error, reply) =>
  cozeFailure(error, { ...reply, hasConversation: true, isWhole: true }),
)

const PAGE_MAX = 50

/**
 * The latest messages come first. A cursor names its direction: the clouds go on after the last message of a page, while coze-studio
 * understands "before" and "after" as times, and names under `first_id` what is before the page.
 */
function history(
  conversation: PlatformConversation,
  { limit, before = '' }: { readonly limit: number; readonly before?: string },
): HelperCall<PlatformHistory> {
  const [, direction, id] = /^(after|before):(.+)$/.exec(before) ?? []
  const place = direction === undefined ? { before_id: before || undefined } : { [`${direction}_id`]: id }
  const body = omitUndefined({ order: 'desc', limit: Math.min(limit, PAGE_MAX), ...place })
  const request = jsonPost(urlOf(conversation, '/v1/conversation/message/list'), bearer(conversation), body)
  return reading(
    request,
    toFailure,
    (reply) => {
      if (!isOk(reply) || !Array.isArray(reply.data)) return undefined
      const messages = reply.data.map(objectOf)
      const items = messages.flatMap((message) => messageOf(message, conversation)).reverse()
      return { ok: { items, ...omitUndefined({ before: cursorOf(reply, messages) }) } }
    },
    (reply) => !isOk(reply),
  )
}

function cursorOf(
  { has_more, first_id, last_id }: JsonObject,
  messages: readonly JsonObject[],
): string | undefined {
  const oldest = messages.at(-1)?.id
  if (has_more !== true || oldest === undefined) return undefined
  const isList = last_id === oldest && (first_id !== last_id || messages.length === 1)
  const id = platformIdOf(isList ? last_id : first_id)
  return id === undefined ? undefined : `${isList ? 'after' : 'before'}:${id}`
}

/** Its steps are no part of the answer. The clouds may leave the type of a message empty. */
function messageOf(message: JsonObject, { agent }: PlatformConversation): readonly PlatformMessage[] {
  const { id, role, type, created_at: createdAt } = message
  if (role === 'user') {
    const said = textEvent('text', contentIn(message))
    return platformMessage(agent, { id, role, said, createdAt })
  }
  const isAnswer = role === 'assistant' && (type === 'answer' || type === '' || type === undefined)
  if (!isAnswer) return []
  const said = textEvent('text', contentIn(message))
  return platformMessage(agent, { id, role: 'assistant', said, createdAt, answerId: id })
}

function remove(conversation: PlatformConversation): HelperCall<void> {
  const path = `/v1/conversations/${encodeURIComponent(conversation.platformConversationId)}`
  return removal(
    confirmed({ method: 'DELETE', url: conversation.agent.apiUrl + path, headers: bearer(conversation) }),
  )
}

function rate(
  conversation: PlatformConversation,
  { answerId, rating, text }: AnswerRating,
): HelperCall<void> {
  const ids = [conversation.platformConversationId, answerId].map(encodeURIComponent)
  const url = `${conversation.agent.apiUrl}/v1/conversations/${ids.join('/messages/')}/feedback`
  const headers = bearer(conversation)
  if (rating === null) return confirmed({ method: 'DELETE', url, headers })
  const feedback = { feedback_type: rating === 'up' ? 'like' : 'unlike', comment: text }
  return confirmed(jsonPost(url, headers, omitUndefined(feedback)))
}

function urlOf(conversation: PlatformConversation, path: string): string {
  const id = encodeURIComponent(conversation.platformConversationId)
  return `${conversation.agent.apiUrl}${path}?conversation_id=${id}`
}

function confirmed(request: UpstreamRequest): HelperCall<void> {
  return helperCall(request, toFailure, (body) => (isOk(body) ? { ok: undefined } : undefined))
}

function isOk({ code }: JsonObject): boolean {
  return cozeCode(code) === 0
}
