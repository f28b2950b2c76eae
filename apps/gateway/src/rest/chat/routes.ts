import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { collectReply } from '#core/calls/reading/collect-reply.ts'
import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import type { Services } from '#core/services/services.ts'
import {
  CHAT_PROBLEMS,
  type ChatRouteOptions,
  callHeaders,
  endUserOf,
  endUserPlace,
  startChat,
} from '#http/chat/chat-route.ts'
import { sendEventStream } from '#http/chat/event-stream.ts'
import { TokenUsageSchema } from '#http/chat/token-usage.ts'
import { judgeKeyFirst, requireChatKey } from '#http/guards/credentials.ts'
import { CALL_HEADERS } from '#http/reply/response-headers.ts'
import { problems, ref } from '#http/reply/schemas.ts'
import { inHeader } from '#http/request/field-place.ts'
import { createChunkEncoder } from './chunks.ts'
import { chatReply } from './reply.ts'
import {
  type ChatBody,
  ChatChunkSchema,
  ChatReplySchema,
  ChatRequestSchema,
  DetailEventSchema,
  StreamErrorSchema,
} from './schemas.ts'

export function chatRoutes(app: FastifyInstance, services: Services, options: ChatRouteOptions): void {
  for (const schema of [
    TokenUsageSchema,
    DetailEventSchema,
    ChatRequestSchema,
    ChatReplySchema,
    ChatChunkSchema,
    StreamErrorSchema,
  ]) {
    app.addSchema(schema)
  }

  app.post<ChatRoute>(
    '/api/v1/chat',
    {
      config: {
        fieldPlaces: (request) => ({ agent: inHeader('agent'), endUser: endUserPlace(request, options) }),
      },
      schema: chatSchema,
      onRequest: requireChatKey(services),
      errorHandler: judgeKeyFirst(services),
    },
    async (request, reply) => {
      const { stream, detail } = request.body
      const chat = await startChat(services, request, reply, chatRequest(request, options))
      callHeaders(request, reply, chat)
      if (stream) {
        await sendEventStream(reply, chat, createChunkEncoder(chat, { detail }), options)
        return reply
      }
      const { replyBytesMax } = options
      return chatReply(chat, await collectReply(chat, { parts: { details: detail }, replyBytesMax }), {
        detail,
      })
    },
  )
}

interface ChatRoute {
  Body: ChatBody
  Headers: { agent?: string }
}

function chatRequest(request: FastifyRequest<ChatRoute>, options: ChatRouteOptions): ChatRequest {
  const { body } = request
  return {
    requestId: request.id,
    face: 'rest',
    credential: request.apiKey,
    address: request.ip,
    agent: { id: request.headers.agent, appId: body.app_id },
    asks: {
      kind: 'question',
      query: body.query,
      files: body.files,
      variables: (body.variables ?? {}) as Record<string, unknown>,
    },
    conversation: { chatId: body.chat_id, conversationId: body.conversation_id },
    endUser: endUserOf(request, options, body.user),
    stream: body.stream,
  }
}

const chatSchema = {
  tags: ['chat'],
  operationId: 'chat',
  'x-response-headers': CALL_HEADERS,
  summary: 'Send a message to an agent',
  description:
    'Returns one JSON object or, if `stream` is true, server-sent events: one `data:` line for each ChatChunk, then `data: [DONE]`. A stream that fails ends with one StreamError and without `[DONE]`.',
  security: [{ apiKey: [] }],
  headers: Type.Object({
    agent: Type.Optional(
      Type.String({ description: 'The id of the agent that answers.', examples: ['fastgpt'] }),
    ),
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
