import type {
  AnswerRating,
  ConversationCalls,
  HelperCall,
  PlatformConversation,
  PlatformHistory,
  PlatformMessage,
  UpstreamRequest,
} from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { madeFileType } from '#core/agents/made-file.ts'
import { reading, removal } from '#core/agents/translate/conversations/conversation-call.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { platformIdOf } from '#core/agents/translate/platform-id.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { hiagentRefusal } from './failures.ts'
import { isError, lenient, post } from './wire.ts'

/** What can be asked of a conversation. Of its turns HiAgent shows the last hundred. */
export const hiagentConversations: ConversationCalls = { history, rename, remove, rate }

const TURNS_MAX = 100

/** HiAgent has no cursor, so a page is cut out of all that it shows; it ends before the turn that the cursor names. */
function history(
  conversation: PlatformConversation,
  { limit, before }: { readonly limit: number; readonly before?: string },
): HelperCall<PlatformHistory> {
  const turns = Math.max(Math.ceil(limit / 2), 1)
  // One more shows whether there are more.
  const asked = before === undefined ? Math.min(turns + 1, TURNS_MAX) : TURNS_MAX
  const request = ask(conversation, 'get_conversation_messages', { Limit: asked })
  return lenient(
    reading(
      request,
      hiagentRefusal,
      (reply) => {
        const { Messages: messages = null } = reply
        if (isError(reply) || (messages !== null && !Array.isArray(messages))) return undefined
        const known = inOrder(listOf(messages).filter(isObject))
        const end = before === undefined ? known.length : known.findIndex((turn) => idOf(turn) === before)
        const begin = Math.max(end - turns, 0)
        const page = known.slice(begin, Math.max(end, 0))
        const first = begin > 0 ? platformIdOf(idOf(page[0])) : undefined
        const items = page.flatMap((turn) => messagesOf(turn, conversation))
        return { ok: { items, ...omitUndefined({ before: first }) } }
      },
      isError,
    ),
  )
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/

/** Their order is not documented. The first and the last one show it by their times or, within one second, by their ids. */
function inOrder(turns: readonly JsonObject[]): readonly JsonObject[] {
  const [first, last] = [turns[0], turns.at(-1)].map((turn) => objectOf(turn?.AnswerInfo))
  const [firstTime, lastTime] = [timeOf(first), timeOf(last)]
  const ids = [textOf(first?.MessageID) ?? '', textOf(last?.MessageID) ?? '']
  const isLaterId = ids.every((id) => ULID.test(id)) && (ids[0] ?? '') > (ids[1] ?? '')
  const isNewestFirst = firstTime === lastTime ? isLaterId : firstTime > lastTime
  return isNewestFirst ? turns.toReversed() : turns
}

function timeOf(answer: JsonObject | undefined): number {
  const time = answer?.CreatedTime
  return typeof time === 'number' ? time : 0
}

function idOf(turn: JsonObject | undefined): string | undefined {
  return textOf(objectOf(turn?.AnswerInfo).MessageID)
}

/** Other answers than the one in use are left out. */
function messagesOf(turn: JsonObject, { agent }: PlatformConversation): readonly PlatformMessage[] {
  const { Answer: answer, MessageID: id, CreatedTime: createdAt, Like: like } = objectOf(turn.AnswerInfo)
  const files = listOf(objectOf(turn.QueryExtends).Files)
  return [
    ...platformMessage(agent, {
      id: textOf(turn.QueryID) ?? `${textOf(id)}-question`,
      role: 'user',
      said: [...textEvent('text', turn.Query), ...files.flatMap((file) => fileEvent(objectOf(file)))],
    }),
    ...platformMessage(agent, {
      id,
      role: 'assistant',
      said: textEvent('text', answer),
      createdAt,
      answerId: id,
      rating: like === 1 ? 'up' : like === -1 ? 'down' : undefined,
    }),
  ]
}

function fileEvent({ Name: name, Url: url }: JsonObject): readonly ChatEvent[] {
  const [filename, address] = [textOf(name), textOf(url)]
  if (address === undefined) return []
  const made = { type: madeFileType(filename, address), url: address }
  return [{ type: 'file', file: { ...made, ...omitUndefined({ name: filename }) } }]
}

function rename(conversation: PlatformConversation, name: string): HelperCall<void> {
  return confirmed(ask(conversation, 'update_conversation', { ConversationName: name }))
}

function remove(conversation: PlatformConversation): HelperCall<void> {
  return removal(confirmed(ask(conversation, 'delete_conversation', {})))
}

function rate(
  conversation: PlatformConversation,
  { answerId, rating, text }: AnswerRating,
): HelperCall<void> {
  return confirmed(
    post(conversation, 'feedback', {
      MessageID: answerId,
      LikeType: rating === null ? 0 : rating === 'up' ? 1 : -1,
      FeedbackInfo: text === undefined ? undefined : { ProblemCategories: [], ProblemDetail: text },
    }),
  )
}

function ask(conversation: PlatformConversation, action: string, fields: object): UpstreamRequest {
  const { platformConversationId: AppConversationID } = conversation
  return post(conversation, action, { AppConversationID, ...fields })
}

/** The reply is an empty object. */
function confirmed(request: UpstreamRequest): HelperCall<void> {
  return lenient(
    helperCall(request, hiagentRefusal, (body) => (isError(body) ? undefined : { ok: undefined })),
  )
}
