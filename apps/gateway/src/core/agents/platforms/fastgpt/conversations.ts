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
import { endOfText, madeFileType, paragraphBreak } from '#core/agents/made-file.ts'
import { atPlace, reading, removal } from '#core/agents/translate/conversations/conversation-call.ts'
import { platformMessage } from '#core/agents/translate/conversations/platform-message.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { countOf, isObject, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { chatOf } from './chat-of.ts'
import { interaction } from './details.ts'
import { fastgptRefusal } from './failures.ts'

/**
 * What can be asked of a chat. These calls need the id of the app, also with a key that is bound to one. Releases before 4.14 have the
 * first three under other paths; they take an API key since 4.8.12.
 */
export const fastgptConversations: ConversationCalls = { history, rename, remove, rate }

const PAGE_MAX = 100

/** A chat that does not exist has no messages. The cursor is the number of later ones, so that a new message shifts the next page. */
function history(
  conversation: PlatformConversation,
  { limit, before }: { readonly limit: number; readonly before?: string },
): HelperCall<PlatformHistory> {
  const pageSize = Math.min(limit, PAGE_MAX)
  return atPlace(before, (offset = 0) => {
    const body = { ...chatOf(conversation), offset, pageSize }
    const at = (path: string) =>
      reading(
        post(conversation, `/core/chat/${path}`, body),
        fastgptRefusal,
        (reply) => pageOf(reply, offset, pageSize, conversation),
        ({ code }) => code !== 200,
      )
    return { ...at('record/getPaginationRecords'), older: at('getPaginationRecords') }
  })
}

function pageOf(
  { code, data }: JsonObject,
  offset: number,
  pageSize: number,
  { agent }: PlatformConversation,
): { ok: PlatformHistory } | undefined {
  const { list, total } = objectOf(data)
  if (code !== 200 || !Array.isArray(list)) return undefined
  const records = list.slice(-pageSize).map(objectOf)
  const place = offset + records.length
  const hasMore = records.length > 0 && place < (countOf(total) ?? 0)
  const items = records.flatMap((record) => messageOf(record, agent))
  return { ok: { items, ...(hasMore && { before: String(place) }) } }
}

function messageOf(record: JsonObject, agent: PlatformConversation['agent']): readonly PlatformMessage[] {
  const { dataId, _id: id, obj, value, time, hideInUI, userGoodFeedback, userBadFeedback } = record
  const isAnswer = obj === 'AI'
  if ((!isAnswer && obj !== 'Human') || hideInUI === true) return []
  const rating =
    textOf(userGoodFeedback) !== undefined ? 'up' : textOf(userBadFeedback) !== undefined ? 'down' : undefined
  return platformMessage(agent, {
    id: textOf(dataId) ?? id,
    role: isAnswer ? 'assistant' : 'user',
    said: saidIn(value),
    createdAt: time,
    ...(isAnswer && { answerId: dataId, rating }),
  })
}

/** The texts of a message are joined as those of a reply in one piece are. */
function saidIn(value: unknown): readonly ChatEvent[] {
  let end = ''
  return (Array.isArray(value) ? value : [value]).flatMap((part) =>
    (isObject(part) ? partEvents(part) : textEvent('text', part)).map((event): ChatEvent => {
      if (event.type !== 'text') return event
      const separated = paragraphBreak(end, event.text) + event.text
      end = endOfText(end, separated)
      return { ...event, text: separated }
    }),
  )
}

/** A part is a text, a file or a question; its kind shows in its keys, since releases of 2026 do not name it. */
function partEvents({ text, file, interactive }: JsonObject): readonly ChatEvent[] {
  if (isObject(interactive))
    return interaction(interactive, { wholeNodes: false }).filter(({ type }) => type === 'pause')
  if (isObject(file)) return fileEvent(file)
  return textEvent('text', isObject(text) ? text.content : text)
}

function fileEvent({ type, name, url }: JsonObject): readonly ChatEvent[] {
  const [address, filename] = [textOf(url), textOf(name)]
  if (address === undefined) return []
  const made = { type: madeFileType(type, filename, address), url: address }
  return [{ type: 'file', file: { ...made, ...omitUndefined({ name: filename }) } }]
}

function rename(conversation: PlatformConversation, name: string): HelperCall<void> {
  const body = { ...chatOf(conversation), customTitle: name }
  const current = post(conversation, '/core/chat/history/updateHistory', body)
  return {
    ...confirmed({ ...current, method: 'PUT' }),
    older: confirmed(post(conversation, '/core/chat/updateHistory', body)),
  }
}

/** FastGPT only marks a chat as deleted: its messages stay, and its id still leads to them. */
function remove(conversation: PlatformConversation): HelperCall<void> {
  const query = new URLSearchParams(chatOf(conversation))
  const at = (path: string) =>
    confirmed({
      method: 'DELETE',
      url: `${conversation.agent.apiUrl}/core/chat/${path}?${query}`,
      headers: bearer(conversation),
    })
  return removal({ ...at('history/delHistory'), older: at('delHistory') })
}

/** What has been rated before is taken back by leaving it out. */
function rate(
  conversation: PlatformConversation,
  { answerId: dataId, rating, text = '' }: AnswerRating,
): HelperCall<void> {
  // An empty one would be none.
  const said = text.trim() === '' ? 'yes' : text
  const feedback =
    rating === null ? {} : rating === 'up' ? { userGoodFeedback: said } : { userBadFeedback: said }
  const body = { ...chatOf(conversation), dataId, ...feedback }
  return confirmed(post(conversation, '/core/chat/feedback/updateUserFeedback', body))
}

function post(conversation: PlatformConversation, path: string, body: object): UpstreamRequest {
  return jsonPost(conversation.agent.apiUrl + path, bearer(conversation), body)
}

function confirmed(request: UpstreamRequest): HelperCall<void> {
  return helperCall(request, fastgptRefusal, ({ code }) => (code === 200 ? { ok: undefined } : undefined))
}
