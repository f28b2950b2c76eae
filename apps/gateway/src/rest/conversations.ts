import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { CONVERSATION_ORDERS } from '#core/conversations/conversation-filter.ts'
import {
  BEFORE_LENGTH_MAX,
  HISTORY_ITEMS_DEFAULT,
  HISTORY_ITEMS_MAX,
} from '#core/conversations/conversation-history.ts'
import { checkName, NAME_LENGTH_MAX } from '#core/conversations/conversations.ts'
import { FEEDBACK_LENGTH_MAX, RATINGS } from '#core/conversations/rate-call.ts'
import { positionOf } from '#core/lists/list-order.ts'
import type { Services } from '#core/services/services.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { bodySchema, recordFields } from '#http/request/body-schema.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, nullable, oneOf, problems, ref, success, uuid } from '#http/response/schemas.ts'
import { CONVERSATION, CONVERSATIONS, VISIBLE_CONVERSATIONS } from '#resources/conversation.ts'
import { ConversationMessagesSchema, messagesRecord } from '#resources/conversation-messages.ts'
import { AT_PLATFORM, PASSED_ON } from '#resources/conversation-words.ts'
import { wordSchema } from '#resources/define-resource.ts'
import { listRoute } from './list-route.ts'

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
  app.addSchema(RenameConversationSchema)
  app.addSchema(RateCallSchema)

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

  const getting = { schema: getSchema, onRequest, ...reads }
  routes.get('/api/v1/conversations/:id', getting, async (request) =>
    success(CONVERSATION.record(await conversations.find(callerOf(request), request.params.id))),
  )

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

  const judgeName = (_request: unknown, { body }: SoundRequest) => {
    const { name } = (body ?? {}) as Partial<Static<typeof RenameConversationSchema>>
    if (name !== undefined) checkName(name)
  }
  const renaming = { schema: renameSchema, onRequest, config: { judge: judgeName } }
  routes.patch('/api/v1/conversations/:id', renaming, async (request, reply) => {
    const { id } = request.params
    const { conversation, passedOn } = await conversations.rename(
      callerOf(request),
      id,
      request.body.name,
      showLimit(reply),
    )
    return success({ ...CONVERSATION.record(conversation), passed_on: passedOn })
  })

  routes.delete('/api/v1/conversations/:id', { schema: deleteSchema, onRequest }, async (request, reply) => {
    const { id, atPlatform } = await conversations.remove(
      callerOf(request),
      request.params.id,
      showLimit(reply),
    )
    return success({ id, at_platform: atPlatform })
  })

  routes.put(
    '/api/v1/calls/:call_id/feedback',
    { schema: feedbackSchema, onRequest },
    async (request, reply) => {
      const { callId, rating, text, passedOn } = await conversations.rate(
        callerOf(request),
        request.params.call_id,
        request.body,
        showLimit(reply),
      )
      return success({ call_id: callId, rating, text, passed_on: passedOn })
    },
  )
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

const getSchema = {
  ...common,
  operationId: 'getConversation',
  summary: 'Read a conversation',
  description: `Returns the record of a conversation. ${VISIBLE_CONVERSATIONS}`,
  params,
  response: { 200: envelope(ref(CONVERSATION.schema)), ...problems(...OF_ONE) },
}

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

const PassedOn = wordSchema(PASSED_ON)

const RenameConversationSchema = bodySchema(
  {
    name: nullable(
      Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
      CONVERSATION_DESCRIPTIONS.newName,
    ),
  },
  {
    $id: 'RenameConversation',
    description: 'The new name of a conversation.',
    examples: [{ name: 'Holiday plans' }],
    otherFields: recordFields(CONVERSATION.schema, 'cannot be changed.'),
  },
)

const renameSchema = {
  ...common,
  operationId: 'renameConversation',
  summary: 'Rename a conversation',
  description: 'Names a conversation, here and at the platform of its agent where that has names.',
  params,
  body: ref(RenameConversationSchema),
  response: {
    200: envelope(Type.Object({ ...CONVERSATION.schema.properties, passed_on: PassedOn })),
    ...problems(...OF_ONE, ...BODY_PROBLEMS),
  },
}

const deleteSchema = {
  ...common,
  operationId: 'deleteConversation',
  summary: 'Delete a conversation',
  description:
    'Deletes a conversation at the platform of its agent, where that can, and here: what is kept of its turns, its open question and its kept replies. Its id begins a new conversation from then on. The records of its calls stay, without what was said of their answers. Where the platform does not answer, nothing is deleted, and a repetition finishes it.',
  params,
  response: {
    200: envelope(
      Type.Object({
        id: uuid(CONVERSATION.fields.id.description),
        at_platform: wordSchema(AT_PLATFORM),
      }),
    ),
    ...problems(...OF_ONE, ...BODY_PROBLEMS, 'conversation_busy', ...OF_PLATFORMS),
  },
}

const RateCallSchema = bodySchema(
  {
    rating: nullable(oneOf(RATINGS), CONVERSATION_DESCRIPTIONS.ratingGiven),
    text: Type.Optional(
      Type.String({ maxLength: FEEDBACK_LENGTH_MAX, description: CONVERSATION_DESCRIPTIONS.ratingText }),
    ),
  },
  {
    $id: 'RateCall',
    description: 'What a user thinks of an answer.',
    examples: [{ rating: 'up', text: 'Just right.' }],
  },
)

const feedbackSchema = {
  ...common,
  operationId: 'rateCall',
  summary: 'Rate the answer of a call',
  description:
    'Keeps with a call what its user thinks of the answer, and passes it on where the platform of its agent takes it. Repeating it replaces it. Takes what may see the conversation of the call.',
  params: Type.Object({ call_id: Type.String({ description: 'The id of the call.' }) }),
  body: ref(RateCallSchema),
  response: {
    200: envelope(
      Type.Object({
        call_id: uuid('The id of the call.'),
        rating: nullable(oneOf(RATINGS), CONVERSATION_DESCRIPTIONS.rating),
        text: nullable(Type.String(), CONVERSATION_DESCRIPTIONS.ratingText),
        passed_on: PassedOn,
      }),
    ),
    ...problems(...PROBLEMS, ...BODY_PROBLEMS, 'call_not_found'),
  },
}
