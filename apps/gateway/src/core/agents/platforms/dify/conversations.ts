import type {
  Adapter,
  AnswerRating,
  ConversationCalls,
  HelperCall,
  PlatformConversation,
  PlatformHistory,
  PlatformMessage,
} from '#core/agents/adapter.ts'
import { reading, removal } from '#core/agents/translate/conversations/conversation-call.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { platformIdOf } from '#core/agents/translate/platform-id.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { difyRefusal } from './failures.ts'
import { madeFiles } from './made-files.ts'

/** Dify counts turns, each with a question and its answer. */
const TURNS_MAX = 100

/** What can be asked of a conversation; only its `user` finds it. A text generator keeps its messages without one. */
export function difyConversations(mode: 'chat' | 'completion' | 'workflow'): ConversationCalls | undefined {
  if (mode === 'workflow') return undefined
  return mode === 'chat' ? { history, rename, remove, rate } : { rate }
}

/** The first page has the latest turns; each of the others ends before the first one of the page before it. */
function history(
  conversation: PlatformConversation,
  { limit, before }: { readonly limit: number; readonly before?: string },
): HelperCall<PlatformHistory> {
  const turns = Math.min(Math.max(Math.ceil(limit / 2), 1), TURNS_MAX)
  const query = new URLSearchParams({
    conversation_id: conversation.platformConversationId,
    user: conversation.endUser,
    limit: String(turns),
    ...(before !== undefined && { first_id: before }),
  })
  const request = {
    method: 'GET',
    url: `${conversation.agent.apiUrl}/messages?${query}`,
    headers: bearer(conversation),
  } as const
  return reading(request, difyRefusal, ({ data, has_more }) => {
    if (!Array.isArray(data)) return undefined
    const page = data.slice(-turns).map(objectOf)
    const first = has_more === true ? platformIdOf(page[0]?.id) : undefined
    const items = page.flatMap((turn) => messagesOf(turn, conversation))
    return { ok: { items, ...omitUndefined({ before: first }) } }
  })
}

function messagesOf(turn: JsonObject, { agent }: PlatformConversation): readonly PlatformMessage[] {
  const { id, created_at: createdAt } = turn
  const files = listOf(turn.message_files).filter(isObject)
  const sent = files.filter(({ belongs_to }) => belongs_to === 'user')
  const made = files.filter(({ belongs_to }) => belongs_to !== 'user')
  const { rating } = objectOf(turn.feedback)
  return [
    ...platformMessage(agent, {
      // Both messages have one id at Dify.
      id: `${textOf(id)}-question`,
      role: 'user',
      said: [
        ...textEvent('text', turn.query),
        ...madeFiles(sent.map((file) => ({ ...file, belongs_to: undefined }))),
      ],
      createdAt,
    }),
    ...platformMessage(agent, {
      id,
      role: 'assistant',
      said: [...textEvent('text', turn.answer), ...madeFiles(made)],
      createdAt,
      answerId: id,
      rating: rating === 'like' ? 'up' : rating === 'dislike' ? 'down' : undefined,
    }),
  ]
}

function pathOf({ platformConversationId }: PlatformConversation): string {
  return `/conversations/${encodeURIComponent(platformConversationId)}`
}

function rename(conversation: PlatformConversation, name: string): HelperCall<void> {
  const body = { name, auto_generate: false, user: conversation.endUser }
  return helperCall(
    jsonPost(`${conversation.agent.apiUrl}${pathOf(conversation)}/name`, bearer(conversation), body),
    difyRefusal,
    (renamed) => (textOf(renamed.id) === undefined ? undefined : { ok: undefined }),
  )
}

/** The reply has no content; before Dify 1.0 it had some. */
function remove(conversation: PlatformConversation): HelperCall<void> {
  const request = jsonPost(conversation.agent.apiUrl + pathOf(conversation), bearer(conversation), {
    user: conversation.endUser,
  })
  return removal({ request: { ...request, method: 'DELETE' }, read: done(difyRefusal) })
}

/** A rating that is taken back twice is refused the second time. */
const NOT_RATED = /^rating cannot be None when feedback not exists/

function rate(
  conversation: PlatformConversation,
  { answerId, rating, text }: AnswerRating,
): HelperCall<void> {
  const body = {
    rating: rating === null ? null : rating === 'up' ? 'like' : 'dislike',
    content: text,
    user: conversation.endUser,
  }
  const path = `/messages/${encodeURIComponent(answerId)}/feedbacks`
  const call = helperCall(
    jsonPost(conversation.agent.apiUrl + path, bearer(conversation), omitUndefined(body)),
    difyRefusal,
    ({ result }) => (result === 'success' ? { ok: undefined } : undefined),
  )
  return {
    ...call,
    read(status, reply, header) {
      const isNotRated = rating === null && NOT_RATED.test(textOf(objectOf(reply).message) ?? '')
      return isNotRated ? { ok: undefined } : call.read(status, reply, header)
    },
  }
}

/** Reads a reply of which nothing counts but its status. */
function done(toFailure: Adapter['toFailure']): HelperCall<void>['read'] {
  return (status, body, header) =>
    status < 300 ? { ok: undefined } : { failure: toFailure(status, body, header) }
}
