import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { CONVERSATION_ORDERS } from '#core/conversations/conversation-filter.ts'
import {
  BEFORE_LENGTH_MAX,
  HISTORY_ITEMS_DEFAULT,
  HISTORY_ITEMS_MAX,
} from '#core/conversations/conversation-history.ts'
import type { Conversation } from '#core/conversations/conversation-rows.ts'
import { checkName, NAME_LENGTH_MAX } from '#core/conversations/conversations.ts'
import { FEEDBACK_LENGTH_MAX, RATINGS } from '#core/conversations/rate-call.ts'
import { positionOf } from '#core/lists/list-order.ts'
import { SEARCH_LENGTH_MAX } from '#core/lists/search.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { bodySchema, recordFields } from '#http/request/body-schema.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { type Cell, sendCsv } from '#http/response/csv.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import {
  envelope,
  listQuery,
  nullable,
  oneOf,
  PageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
  uuid,
} from '#http/response/schemas.ts'
import {
  ConversationMessagesSchema,
  ConversationSchema,
  conversationRecord,
  messagesRecord,
} from './conversation-record.ts'
import { csvOr, Format, requireFormat } from './csv-lists.ts'

/** Conversations, their messages, and what their users think of the answers. */
export function conversationRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'conversations' | 'audit' | 'authentication' | 'reads'>,
): void {
  const { conversations, audit } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  const reads = smallRead(services)
  app.addSchema(ConversationSchema)
  app.addSchema(ConversationMessagesSchema)
  app.addSchema(RenameConversationSchema)
  app.addSchema(RateCallSchema)

  const judgeList = (request: FastifyRequest, { query }: SoundRequest) => {
    const parameters = (query ?? {}) as ListParameters
    const { cursor } = parameters
    allOf({
      format: () => requireFormat(request),
      cursor: () => cursor && positionOf('last_activity_at', CONVERSATION_ORDERS.last_activity_at, cursor),
      filter: () => conversations.check(callerOf(request), filterOf(parameters)),
    })
  }
  const listing = {
    schema: listSchema,
    onRequest,
    config: { judge: judgeList },
    ...reads,
  }
  routes.get('/api/v1/conversations', listing, async (request, reply) => {
    requireFormat(request)
    const { format, limit, cursor } = request.query
    const caller = callerOf(request)
    const filter = filterOf(request.query)
    const signal = abortedWith(reply)
    if (format === 'csv') {
      const rows = await conversations.export(caller, filter, showLimit(reply), signal)
      await audit.exported(caller, 'conversations', request.query)
      return sendCsv(reply, 'conversations', Object.keys(ConversationSchema.properties), csvRows(rows))
    }
    const found = await readOrderedPage({ limit, cursor }, (position) =>
      conversations.list(caller, { ...position, signal }, filter),
    )
    return success(pageRecord(found, conversationRecord))
  })

  const getting = { schema: getSchema, onRequest, ...reads }
  routes.get('/api/v1/conversations/:id', getting, async (request) =>
    success(conversationRecord(await conversations.find(callerOf(request), request.params.id))),
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
    return success({ ...conversationRecord(conversation), passed_on: passedOn })
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

async function* csvRows(conversations: AsyncIterable<Conversation>): AsyncGenerator<Cell[]> {
  for await (const conversation of conversations) yield Object.values(conversationRecord(conversation))
}

type ListParameters = Static<typeof listSchema.querystring>

function filterOf({ agent, app, end_user, conversation, search, owner_id }: ListParameters) {
  return { agent, app, endUser: end_user, conversation, search, ownerId: owner_id }
}

const common = {
  tags: ['conversations'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  'x-response-headers': LIMIT_HEADERS,
}

const params = Type.Object({ id: Type.String({ description: CONVERSATION_DESCRIPTIONS.id }) })
const text = (description: string) => Type.Optional(Type.String({ maxLength: 256, description }))

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

const listSchema = {
  ...common,
  operationId: 'listConversations',
  summary: 'List conversations',
  description: `Returns conversations, the most recently used first. ${CONVERSATION_DESCRIPTIONS.visible} The CSV format returns all of them at once, without pages.`,
  querystring: listQuery({
    ...PageQuery,
    agent: text(CONVERSATION_DESCRIPTIONS.ofAgent),
    app: text(CONVERSATION_DESCRIPTIONS.ofApp),
    end_user: text(CONVERSATION_DESCRIPTIONS.ofUser),
    conversation: text(CONVERSATION_DESCRIPTIONS.ofConversation),
    search: Type.Optional(
      Type.String({ maxLength: SEARCH_LENGTH_MAX, description: CONVERSATION_DESCRIPTIONS.search }),
    ),
    owner_id: Type.Optional(Type.String({ maxLength: 64, description: CONVERSATION_DESCRIPTIONS.ofOwner })),
    ...Format,
  }),
  response: {
    200: csvOr(envelope(page(ref(ConversationSchema)))),
    ...problems(...PROBLEMS, 'user_not_found'),
  },
}

const getSchema = {
  ...common,
  operationId: 'getConversation',
  summary: 'Read a conversation',
  description: `Returns the record of a conversation. ${CONVERSATION_DESCRIPTIONS.visible}`,
  params,
  response: { 200: envelope(ref(ConversationSchema)), ...problems(...OF_ONE) },
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

const PassedOn = oneOf(['yes', 'failed', 'unsupported'], CONVERSATION_DESCRIPTIONS.passedOn)

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
    otherFields: recordFields(ConversationSchema, 'cannot be changed.'),
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
    200: envelope(Type.Object({ ...ConversationSchema.properties, passed_on: PassedOn })),
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
        id: uuid(CONVERSATION_DESCRIPTIONS.id),
        at_platform: oneOf(['deleted', 'unsupported'], CONVERSATION_DESCRIPTIONS.atPlatform),
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
