import { type Answer, json, Refusal } from '../serving/answer.ts'
import type { Conversations, Turn } from '../serving/conversations.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import { asText, type JsonRecord } from '../serving/narrow.ts'
import { jsonError, known } from './errors.ts'

type Admit = (context: RequestContext, appId: unknown) => '2025' | '2026'

interface Call {
  readonly context: RequestContext
  /** The fields of the body, or of the query. */
  readonly fields: JsonRecord
}

/**
 * Records, titles, deletion and feedback of chats. Since 4.14 the first three are under `record/` and `history/`, as in
 * `projects/app/src/pages/api/core/chat`; before, they were one folder up, as in the documentation of 4.8.12.
 */
export function chatRoutes(chats: Conversations, admit: Admit, unknownPath: Answer): Routes {
  const since = (year: '2025' | '2026' | undefined, handle: (call: Call) => unknown) => {
    return (context: RequestContext) => {
      const { body, query, method } = context
      const fields = method === 'DELETE' ? Object.fromEntries(query) : body
      const dialect = admit(context, fields.appId)
      if (year !== undefined && year !== dialect) return unknownPath
      if (!asText(fields.appId)) throw new Refusal(jsonError(known.appIsEmpty))
      return success(handle({ context, fields }))
    }
  }
  const find = ({ fields }: Call) => chats.find(asText(fields.chatId))

  /** A chat that does not exist has no records. The offset counts from the last one. */
  function list(call: Call) {
    const { offset = 0, pageSize = 10 } = call.fields
    const records = (find(call)?.turns ?? []).flatMap(recordsOf)
    const end = Math.max(0, records.length - Number(offset))
    return { list: records.slice(Math.max(0, end - Number(pageSize)), end), total: records.length }
  }

  /** Changes nothing where there is no such chat. */
  function rename(call: Call) {
    const chat = find(call)
    if (chat) chat.name = asText(call.fields.customTitle)
    return null
  }

  /**
   * Does not delete anything: `delHistory.ts` sets `deleteTime` in the row of the chat, which hides it in the list of chats. Its records
   * stay, and `getChatItems` finds them by the id of the chat, so that a question under the same id still gets the old context.
   */
  function remove() {
    return null
  }

  /** A field that is left out is unset. */
  function rate(call: Call) {
    const turn = find(call)?.turns.find(({ id }) => id === call.fields.dataId)
    if (!turn) throw new Refusal(jsonError(known.chatItemNotFound))
    const { userGoodFeedback: good, userBadFeedback: bad } = call.fields
    turn.rating = asText(good) ? 'up' : asText(bad) ? 'down' : undefined
    turn.comment = asText(good) || asText(bad) || undefined
    return null
  }

  return {
    'POST /api/core/chat/record/getPaginationRecords': since('2026', list),
    'POST /api/core/chat/getPaginationRecords': since('2025', list),
    'PUT /api/core/chat/history/updateHistory': since('2026', rename),
    'POST /api/core/chat/updateHistory': since('2025', rename),
    'DELETE /api/core/chat/history/delHistory': since('2026', remove),
    'DELETE /api/core/chat/delHistory': since('2025', remove),
    'POST /api/core/chat/feedback/updateUserFeedback': since(undefined, rate),
  }
}

function success(data: unknown): Answer {
  return json(200, { code: 200, statusText: '', message: '', data })
}

function recordsOf(turn: Turn): readonly object[] {
  const { id, questionId, query, files, createdAt, rating, comment } = turn
  const time = new Date(createdAt * 1_000).toISOString()
  const text = (content: string) => ({ type: 'text', text: { content } })
  const answer = turn.answer()
  return [
    {
      _id: `${questionId}-row`,
      dataId: questionId,
      obj: 'Human',
      value: [
        ...files.map((url) => ({ type: 'file', file: { type: 'file', name: nameOf(url), url } })),
        text(query),
      ],
      time,
    },
    {
      _id: `${id}-row`,
      dataId: id,
      obj: 'AI',
      value: answer === '' ? [] : [text(answer)],
      time,
      ...(rating === 'up' && { userGoodFeedback: comment }),
      ...(rating === 'down' && { userBadFeedback: comment }),
      llmModuleAccount: 1,
      totalQuoteList: [],
      totalRunningTime: 1.5,
      historyPreviewLength: 2,
    },
  ]
}

function nameOf(url: string): string {
  return url.split(/[?#]/, 1)[0]?.split('/').at(-1) ?? ''
}
