import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Services } from '#core/services/services.ts'
import { CHAT_PROBLEMS, type ChatRoute, type ChatRouteOptions, chatRoute } from '#http/chat/chat-route.ts'
import { TokenUsageSchema } from '#http/chat/completion-form.ts'
import { ReplyFileSchema } from '#http/chat/file-schemas.ts'
import { KEPT_HEADERS } from '#http/chat/kept-request.ts'
import {
  PAUSE_FIELD_SCHEMAS,
  PauseAnswerSchema,
  PauseFieldSchema,
  PauseSchema,
} from '#http/chat/pause-schemas.ts'
import { KEEP_ALIVE_DESCRIPTION } from '#http/descriptions/chat-descriptions.ts'
import { inHeader } from '#http/request/field-place.ts'
import { KEPT_CALL_HEADERS } from '#http/response/response-headers.ts'
import { problems, ref } from '#http/response/schemas.ts'
import { createChunkEncoder } from './chunks.ts'
import { DETAIL_KIND_SCHEMAS, DetailEventSchema } from './detail-schemas.ts'
import { createReplyCollector } from './reply.ts'
import {
  type ChatBody,
  ChatChunkSchema,
  ChatReplySchema,
  ChatRequestSchema,
  StreamErrorSchema,
} from './schemas.ts'

export function chatRoutes(app: FastifyInstance, services: Services, options: ChatRouteOptions): void {
  for (const schema of [
    TokenUsageSchema,
    ...DETAIL_KIND_SCHEMAS,
    DetailEventSchema,
    ReplyFileSchema,
    ...PAUSE_FIELD_SCHEMAS,
    PauseFieldSchema,
    PauseSchema,
    PauseAnswerSchema,
    ChatRequestSchema,
    ChatReplySchema,
    ChatChunkSchema,
    StreamErrorSchema,
  ]) {
    app.addSchema(schema)
  }

  chatRoute(app, services, options, route)
}

const chatSchema = {
  tags: ['chat'],
  operationId: 'chat',
  'x-response-headers': KEPT_CALL_HEADERS,
  summary: 'Send a message to an agent',
  description: `Returns one JSON object or, if \`stream\` is true, server-sent events: one \`data:\` line for each ChatChunk, then \`data: [DONE]\`. A stream that fails ends with one StreamError and without \`[DONE]\`. ${KEEP_ALIVE_DESCRIPTION}`,
  security: [{ apiKey: [] }],
  headers: Type.Object({
    agent: Type.Optional(
      Type.String({ description: 'The id of the agent that answers.', examples: ['fastgpt'] }),
    ),
    ...KEPT_HEADERS,
  }),
  body: ref(ChatRequestSchema),
  response: {
    200: {
      description: 'The reply.',
      content: {
        'application/json': { schema: ref(ChatReplySchema) },
        'text/event-stream': { schema: Type.Union([ref(ChatChunkSchema), ref(StreamErrorSchema)]) },
      },
    },
    ...problems(...CHAT_PROBLEMS, 'conversation_id_required'),
  },
}

const route: ChatRoute<ChatBody, { readonly detail: boolean }> = {
  url: '/api/v1/chat',
  face: 'rest',
  schema: chatSchema,
  fieldPlaces: () => ({ agent: inHeader('agent') }),
  read,
  readSound: (body, headers) => read({ body: { ...STAND_INS, ...omitUndefined(body) }, headers }),
  encode: createChunkEncoder,
  collector: createReplyCollector,
}

/** For fields that are missing. They are never reported, because that the field is missing is. */
const STAND_INS: ChatBody = {
  app_id: '',
  chat_id: '',
  stream: false,
  detail: false,
  query: '-',
  conversation_id: '',
  files: [],
}

function read({ body, headers }: { body: ChatBody; headers: { agent?: string } }) {
  return {
    agent: { id: headers.agent, appId: body.app_id },
    asks: {
      kind: 'question' as const,
      query: body.query,
      files: body.files,
      variables: (body.variables ?? {}) as Record<string, unknown>,
    },
    conversation: { chatId: body.chat_id, conversationId: body.conversation_id },
    answer: body.answer,
    form: { detail: body.detail },
  }
}
