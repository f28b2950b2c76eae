import { type Answer, json } from '../serving/answer.ts'
import type { Conversation, Conversations, Turn } from '../serving/conversations.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import { asText } from '../serving/narrow.ts'
import { BASE, refusal, userOf } from './errors.ts'

/** The last turns of a conversation are shown, so many at most. */
const LIMIT_MAX = 100

/**
 * Messages, names, deletion and ratings, by the vendor's description of the API. That a deleted conversation is unknown from then on is
 * an assumption, as is the order of the messages, the oldest first.
 */
export function conversationRoutes(conversations: Conversations): Routes {
  function find(context: RequestContext): Conversation {
    const userId = userOf(context)
    const conversation = conversations.find(asText(context.body.AppConversationID))
    if (conversation?.owner !== userId) throw refusal(context.path, 'not-found')
    return conversation
  }

  function messages(context: RequestContext): Answer {
    const { turns } = find(context)
    const limit = Number(context.body.Limit)
    if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) throw refusal(context.path, 'rejected')
    return json(200, { Messages: turns.slice(-limit).map(record), BaseResp: null })
  }

  function update(context: RequestContext): Answer {
    const conversation = find(context)
    conversation.name = asText(context.body.ConversationName) || conversation.name
    return json(200, {})
  }

  function remove(context: RequestContext): Answer {
    const conversation = find(context)
    conversations.delete(conversation.id)
    return json(200, {})
  }

  function feedback(context: RequestContext): Answer {
    const userId = userOf(context)
    const { MessageID: id, LikeType: like } = context.body
    const turn = conversations.findTurn(asText(id), userId)
    if (!turn || (like !== 1 && like !== 0 && like !== -1)) throw refusal(context.path, 'rejected')
    turn.rating = like === 1 ? 'up' : like === -1 ? 'down' : undefined
    return json(200, {})
  }

  return {
    [`POST ${BASE}/get_conversation_messages`]: messages,
    [`POST ${BASE}/update_conversation`]: update,
    [`POST ${BASE}/delete_conversation`]: remove,
    [`POST ${BASE}/feedback`]: feedback,
  }
}

function record(turn: Turn): object {
  const { id, questionId, query, files, createdAt, rating } = turn
  return {
    ConversationID: '01JENGF8YA4NWT8AHP0WD9PTT6',
    QueryID: questionId,
    Query: query,
    AnswerInfo: {
      Answer: turn.answer(),
      MessageID: id,
      CreatedTime: createdAt,
      TaskID: id,
      Like: rating === 'up' ? 1 : rating === 'down' ? -1 : 0,
      TotalTokens: 125,
      Latency: 9.897,
      TracingJsonStr: '',
      RetrieverResource: false,
    },
    OtherAnswers: [],
    ...(files.length > 0 && {
      QueryExtends: { Files: files.map((Url) => ({ Name: '', Path: '', Size: 0, Url })) },
    }),
    Inputs: {},
  }
}
