import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { CONVERSATION_ORDERS } from '#core/conversations/conversation-filter.ts'
import {
  BEFORE_LENGTH_MAX,
  HISTORY_ITEMS_DEFAULT,
  HISTORY_ITEMS_MAX,
} from '#core/conversations/conversation-history.ts'
import { checkName } from '#core/conversations/conversations.ts'
import { positionOf } from '#core/lists/list-order.ts'
import { ifGiven } from '#core/requests/input/all-of.ts'
import type { Services } from '#core/services/services.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, problems, ref, success } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { CONVERSATION, CONVERSATIONS, VISIBLE_CONVERSATIONS } from '#resources/conversation.ts'
import {
  DELETED_CONVERSATION,
  RATE_CALL,
  RATED_CALL,
  RENAME_CONVERSATION,
  RENAMED_CONVERSATION,
} from '#resources/conversation-forms.ts'
import { ConversationMessagesSchema, messagesRecord } from '#resources/conversation-messages.ts'
import { listRoute } from './list-route.ts'
import { recordRoutes } from './resources/record-route.ts'

/** Conversations, their messages, and what their users think of the answers. */
export function conversationRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'conversations' | 'audit' | 'authentication' | 'reads'>,
): void {
  const { conversations } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  const reads = smallRead(services)
  app.addSchema(ConversationMessagesSchema)

  listRoute(app, services, CONVERSATIONS, {
    list: {
      list: (caller, filter, page, _onLimit, signal) =>
        conversations.list(caller, { ...page, signal }, filter),
      export: conversations.export,
    },
    onRequest,
    bounds: reads,
    reasons: [...PROBLEMS, 'user_not_found'],
    checkCursor: (cursor) => positionOf('last_activity_at', CONVERSATION_ORDERS.last_activity_at, cursor),
    check: (filter, caller) => conversations.check(caller, filter),
  })

  const reading = { schema: messagesSchema, onRequest, ...reads }
  routes.get('/api/v1/conversations/:id/messages', reading, async (request, reply) => {
    const { limit = HISTORY_ITEMS_DEFAULT, before } = request.query
    const page = { limit, before }
    const onLimit = showLimit(reply)
    const signal = abortedWith(reply)
    return success(
      messagesRecord(
        await conversations.messages(callerOf(request), request.params.id, page, onLimit, signal),
      ),
    )
  })

  const parts = {
    tag: 'conversations',
    onRequest,
    guardReasons: PROBLEMS,
    bounds: reads,
    viewOf: () => undefined,
  }
  const url = '/api/v1/conversations/:id'

  recordRoutes(app, { ...parts, of: CONVERSATION })('GET', url, {
    operationId: 'getConversation',
    summary: 'Read a conversation',
    description: `Returns the record of a conversation. ${VISIBLE_CONVERSATIONS}`,
    reasons: ['conversation_not_found'],
    call: ({ caller, id }) => conversations.find(caller, id),
  })

  recordRoutes(app, { ...parts, of: RENAMED_CONVERSATION })('PATCH', url, {
    operationId: 'renameConversation',
    summary: 'Rename a conversation',
    description: 'Names a conversation, here and at the platform of its agent where that has names.',
    input: RENAME_CONVERSATION,
    check: (_caller, { name }) => ifGiven(name, checkName),
    reasons: ['conversation_not_found'],
    async call({ caller, id, given: { name }, onLimit }) {
      const { conversation, passedOn } = await conversations.rename(caller, id, name, onLimit)
      return { ...conversation, passedOn }
    },
  })

  recordRoutes(app, { ...parts, of: DELETED_CONVERSATION })('DELETE', url, {
    operationId: 'deleteConversation',
    summary: 'Delete a conversation',
    description:
      'Deletes a conversation at the platform of its agent, where that can, and here: what is kept of its turns, its open question and its kept replies. Its id begins a new conversation from then on. The records of its calls stay, without what was said of their answers. Where the platform does not answer, nothing is deleted, and a repetition finishes it.',
    reasons: ['conversation_not_found', 'conversation_busy', ...OF_PLATFORMS],
    call: ({ caller, id, onLimit }) => conversations.remove(caller, id, onLimit),
  })

  recordRoutes(app, { ...parts, of: RATED_CALL })('PUT', '/api/v1/calls/:call_id/feedback', {
    operationId: 'rateCall',
    summary: 'Rate the answer of a call',
    description:
      'Keeps with a call what its user thinks of the answer, and passes it on where the platform of its agent takes it. Repeating it replaces it. Takes what may see the conversation of the call.',
    input: RATE_CALL,
    reasons: ['call_not_found'],
    call: ({ caller, id, given, onLimit }) => conversations.rate(caller, id, given, onLimit),
  })
}

const common = {
  tags: ['conversations'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  'x-response-headers': LIMIT_HEADERS,
}

const params = Type.Object({ id: Type.String({ description: CONVERSATION.fields.id.description }) })

const PROBLEMS = [...ANY_PROBLEMS, 'invalid_request', 'permission_denied'] as const
const OF_ONE = [...PROBLEMS, 'conversation_not_found'] as const
/** What a platform may answer. */
const OF_PLATFORMS = [
  'not_supported_by_agent',
  'agent_unavailable',
  'agent_rate_limited',
  'agent_credentials',
  'agent_quota',
  'agent_misconfigured',
  'agent_error',
  'agent_malformed',
  'agent_truncated',
  'agent_unreachable',
  'agent_timeout',
] as const

const messagesSchema = {
  ...common,
  operationId: 'listMessages',
  summary: 'Read the messages of a conversation',
  description:
    'Returns a page of the messages of a conversation, the newest page first. Where the platform of its agent keeps them, it is asked at this moment, and nothing of it is stored. That an administrator reads the texts of another user is in the audit log.',
  params,
  querystring: listQuery({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HISTORY_ITEMS_MAX,
        default: HISTORY_ITEMS_DEFAULT,
        description: CONVERSATION_DESCRIPTIONS.limit,
      }),
    ),
    before: Type.Optional(
      Type.String({ maxLength: BEFORE_LENGTH_MAX, description: CONVERSATION_DESCRIPTIONS.beforeGiven }),
    ),
  }),
  response: {
    200: envelope(ref(ConversationMessagesSchema)),
    ...problems(...OF_ONE, ...OF_PLATFORMS),
  },
}
