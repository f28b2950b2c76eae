import { type Answer, Refusal } from '../serving/answer.ts'
import type { Conversations } from '../serving/conversations.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import { asText } from '../serving/narrow.ts'
import { appOf, checkRoute, checkUuid, USER_MISSING } from './apps.ts'
import { difyError, difyJson } from './errors.ts'
import { conversationOf, type DifyMessages } from './messages.ts'

/**
 * Messages, names, deletion and ratings, as in `message.py` and `conversation.py` of Dify's service API. A deleted conversation does not
 * exist any more, for questions and for these routes.
 */
export function conversationRoutes(conversations: Conversations, messages: DifyMessages): Routes {
  const find = (id: string, user: string) => conversationOf(conversations.find(checkUuid(id)), user)

  function list(context: RequestContext): Answer {
    const { query } = context
    checkRoute(appOf(context), 'chat')
    return messages.list(find(query.get('conversation_id') ?? '', query.get('user') ?? ''), query)
  }

  function rename(context: RequestContext): Answer {
    const { body, params } = context
    checkRoute(appOf(context), 'chat')
    const conversation = find(params.id ?? '', userOf(context))
    const name = asText(body.name)
    if (name.trim() === '' && body.auto_generate !== true) throw new Refusal(NAME_MISSING)
    conversation.name = name || 'New conversation'
    const createdAt = conversation.turns[0]?.createdAt ?? 0
    return difyJson(200, {
      id: conversation.id,
      name: conversation.name,
      inputs: {},
      status: 'normal',
      introduction: '',
      created_at: createdAt,
      updated_at: conversation.turns.at(-1)?.createdAt ?? createdAt,
    })
  }

  function remove(context: RequestContext): Answer {
    checkRoute(appOf(context), 'chat')
    const conversation = find(context.params.id ?? '', userOf(context))
    conversations.delete(conversation.id)
    messages.forget(conversation)
    return { status: 204, headers: {}, body: '' }
  }

  function rate(context: RequestContext): Answer {
    appOf(context)
    return messages.rate(context.params.id ?? '', userOf(context), context.body)
  }

  return {
    'GET /v1/messages': list,
    'POST /v1/messages/:id/feedbacks': rate,
    'POST /v1/conversations/:id/name': rename,
    'DELETE /v1/conversations/:id': remove,
  }
}

function userOf({ body }: RequestContext): string {
  const user = asText(body.user)
  if (!user) throw new Refusal(USER_MISSING)
  return user
}

const NAME_MISSING = difyError(400, 'invalid_param', 'name is required when auto_generate is false')
