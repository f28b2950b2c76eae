import { type Answer, json, Refusal } from '../serving/answer.ts'
import type { Conversation, Conversations, Turn } from '../serving/conversations.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import { asText } from '../serving/narrow.ts'
import { type CozeDialect, cozeErrors, cozeRefusal } from './errors.ts'
import { dialectOf } from './keys.ts'
import { type CozeChat, cozeMessages } from './script.ts'

/** The chats by the ids of the turns of a conversation. */
export type ChatsByTurn = ReadonlyMap<string, CozeChat>

interface Message {
  readonly id: string
  /** The turn that it is a part of. */
  readonly turn: Turn
  readonly body: object
}

/**
 * Messages, deletion and ratings: of the clouds by their documentation, of coze-studio by `openapi_message.go`, `conversation.go` and the
 * DAO of its messages. A deleted conversation is gone, with its messages; a chat that names it is refused, or begins anew in coze-studio.
 */
export function conversationRoutes(conversations: Conversations, chats: ChatsByTurn): Routes {
  function find(context: RequestContext, id: string) {
    const dialect = dialectOf(context.headers.authorization)
    const conversation = conversations.find(id)
    if (!conversation) throw new Refusal(cozeRefusal(dialect, cozeErrors[dialect]['not-found']))
    return { dialect, conversation }
  }

  function list(context: RequestContext): Answer {
    const { dialect, conversation } = find(context, context.query.get('conversation_id') ?? '')
    const { body } = context
    const limit = body.limit === undefined ? LIMIT_MAX : Number(body.limit)
    if (!(limit >= 1 && limit <= LIMIT_MAX))
      throw new Refusal(cozeRefusal(dialect, cozeErrors[dialect].rejected))
    const messages = messagesOf(conversation, dialect, chats)
    const place = { before: asText(body.before_id), after: asText(body.after_id) }
    return dialect === 'cloud' ? cloudPage(messages, limit, place) : studioPage(messages, limit, place)
  }

  function remove(context: RequestContext): Answer {
    const { dialect, conversation } = find(context, context.params.id ?? '')
    conversations.delete(conversation.id)
    return done(dialect)
  }

  function rate(context: RequestContext): Answer {
    const { dialect, conversation } = find(context, context.params.id ?? '')
    const messages = messagesOf(conversation, dialect, chats)
    const turn = messages.find(
      ({ id, turn }) => id === context.params.message && id !== turn.questionId,
    )?.turn
    const { feedback_type: type, comment } = context.body
    const isRating = type === 'like' || type === 'unlike' || context.method === 'DELETE'
    if (!turn || !isRating) throw new Refusal(cozeRefusal(dialect, cozeErrors[dialect].rejected))
    turn.rating = context.method === 'DELETE' ? undefined : type === 'like' ? 'up' : 'down'
    turn.comment = asText(comment) || undefined
    return done(dialect)
  }

  return {
    'POST /v1/conversation/message/list': list,
    'DELETE /v1/conversations/:id': remove,
    'POST /v1/conversations/:id/messages/:message/feedback': rate,
    'DELETE /v1/conversations/:id/messages/:message/feedback': rate,
  }
}

const LIMIT_MAX = 50

function done(dialect: CozeDialect): Answer {
  return json(200, { code: 0, msg: '', ...(dialect === 'cloud' && { detail: { logid: 'sandbox' } }) })
}

/** The newest message first. */
function messagesOf(
  { id: conversationId, turns }: Conversation,
  dialect: CozeDialect,
  chats: ChatsByTurn,
): readonly Message[] {
  return turns
    .flatMap((turn): Message[] => {
      const { id, questionId, query, files, createdAt } = turn
      const chat = chats.get(id)
      const answers = chat === undefined ? [] : cozeMessages(chat)
      const common = { conversation_id: conversationId, created_at: createdAt, updated_at: createdAt }
      const items = [{ type: 'text', text: query }, ...files.map((url) => ({ type: 'file', file_url: url }))]
      const content = files.length === 0 ? query : JSON.stringify(items)
      const question = {
        ...common,
        id: questionId,
        bot_id: '',
        chat_id: id,
        role: 'user',
        type: dialect === 'cloud' ? '' : 'question',
        content,
        content_type: files.length === 0 ? 'text' : 'object_string',
        meta_data: {},
      }
      return [
        { id: questionId, turn, body: question },
        ...answers.map((answer) => ({ id: answer.id, turn, body: { ...common, ...answer } })),
      ]
    })
    .reverse()
}

interface Place {
  readonly before: string
  readonly after: string
}

/** Places in the clouds are those of the list: what is after the last message of a page is older, as in the SDK for Python. */
function cloudPage(messages: readonly Message[], limit: number, { before, after }: Place): Answer {
  const at = (id: string) => messages.findIndex((message) => message.id === id)
  const begin = after ? at(after) + 1 : before ? Math.max(0, at(before) - limit) : 0
  const end = before ? at(before) : begin + limit
  const page = messages.slice(begin, Math.min(end, begin + limit))
  return json(200, {
    code: 0,
    msg: '',
    data: page.map(({ body }) => body),
    first_id: page[0]?.id ?? '',
    last_id: page.at(-1)?.id ?? '',
    has_more: before ? begin > 0 : begin + page.length < messages.length,
    detail: { logid: 'sandbox' },
  })
}

/** coze-studio counts questions, and places are times: what is before the first id of a page is older. */
function studioPage(messages: readonly Message[], limit: number, { before, after }: Place): Answer {
  const questions = messages.filter(({ id, turn }) => id === turn.questionId)
  const place = messages.findIndex(({ id }) => id === (before || after))
  const older = before ? questions.filter((question) => messages.indexOf(question) > place) : questions
  const known = after ? questions.filter((question) => messages.indexOf(question) < place) : older
  const page = known.slice(0, limit)
  const turns = new Set(page.map(({ turn }) => turn))
  return json(200, {
    data: messages.filter(({ turn }) => turns.has(turn)).map(({ body }) => body),
    has_more: known.length > page.length,
    first_id: page.at(-1)?.id ?? '0',
    last_id: page[0]?.id ?? '0',
    code: 0,
    msg: '',
  })
}
