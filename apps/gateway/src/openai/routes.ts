import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { collectReply } from '#core/calls/reading/collect-reply.ts'
import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import { Problem } from '#core/errors.ts'
import type { Services } from '#core/services/services.ts'
import {
  CHAT_PROBLEMS,
  type ChatRouteOptions,
  callHeaders,
  endUserOf,
  endUserPlace,
  idOfHeader,
  startChat,
} from '#http/chat/chat-route.ts'
import { sendEventStream } from '#http/chat/event-stream.ts'
import { callerOf, judgeKeyFirst, KEY_PROBLEMS, keyOnly, requireChatKey } from '#http/guards/credentials.ts'
import { guardLargeBodies } from '#http/guards/large-bodies.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { noStore } from '#http/reply/no-store.ts'
import { CALL_HEADERS, LIMIT_HEADERS } from '#http/reply/response-headers.ts'
import { listQuery, problemsAs, ref } from '#http/reply/schemas.ts'
import { type FieldPlaces, inBody, inHeader } from '#http/request/field-place.ts'
import { createCompletionEncoder } from './chunks.ts'
import { AGENT_HEADER, BODY_BYTES_MAX, CONVERSATION_HEADER, ConversationHeader } from './headers.ts'
import { completionOf } from './reply.ts'
import { callMessages, passedParameters, splitModel, unsupportedParameters } from './request.ts'
import { responsesRoutes } from './responses/routes.ts'
import {
  CompletionChunkSchema,
  type CompletionRequest,
  CompletionRequestSchema,
  CompletionSchema,
  ModelListSchema,
  ModelSchema,
  OpenAiErrorSchema,
} from './schemas.ts'

interface CompletionHeaders {
  agent?: string
  [CONVERSATION_HEADER]?: string
}

/**
 * The routes for clients of OpenAI. Such a client takes `<publicUrl>/api/v1` as its base URL, an API key of this gateway as
 * its key, and the id of an agent as its model.
 */
export function openAiRoutes(app: FastifyInstance, services: Services, options: ChatRouteOptions): void {
  for (const schema of [
    CompletionRequestSchema,
    CompletionSchema,
    CompletionChunkSchema,
    ModelSchema,
    ModelListSchema,
    OpenAiErrorSchema,
  ]) {
    app.addSchema(schema)
  }
  const config = { errors: 'openai' } as const
  const reads = smallRead(services)
  const fieldPlaces = (request: FastifyRequest) => placesOf(request, options)
  const bytesMax = Math.max(BODY_BYTES_MAX, options.bodyBytesMax)
  const bodyBounds = { bytesMax, smallBytesMax: options.bodyBytesMax }

  app.post<{ Body: CompletionRequest; Headers: CompletionHeaders }>(
    '/api/v1/chat/completions',
    {
      config: { ...config, fieldPlaces },
      schema: completionSchema,
      bodyLimit: bytesMax,
      onRequest: [requireChatKey(services), guardLargeBodies(services, bodyBounds)],
      errorHandler: judgeKeyFirst(services),
    },
    async (request, reply) => {
      const { stream, stream_options } = request.body
      const chat = await startChat(services, request, reply, chatRequest(request, options))
      callHeaders(request, reply, chat)
      const { reasoning } = chat
      if (stream === true) {
        const includeUsage = stream_options?.include_usage === true
        await sendEventStream(
          reply,
          chat,
          createCompletionEncoder(chat, { reasoning, includeUsage }),
          options,
        )
        return reply
      }
      const { replyBytesMax } = options
      return completionOf(
        chat,
        await collectReply(chat, { parts: { reasoning, toolCalls: true }, replyBytesMax }),
      )
    },
  )

  responsesRoutes(app, services, options)

  app.get(
    '/api/v1/models',
    { config, schema: modelsSchema, onRequest: [noStore, keyOnly(services)], ...reads },
    async (request) => ({
      object: 'list' as const,
      data: services.agents.models(callerOf(request)).map(modelRecord),
    }),
  )

  // A wildcard, because the id of an app's model contains a slash, which some clients do not escape.
  app.get<{ Params: { '*': string } }>(
    '/api/v1/models/*',
    { config, schema: modelSchema, onRequest: [noStore, keyOnly(services)], ...reads },
    async (request) => modelOf(services, request, request.params['*']),
  )
}

function chatRequest(
  request: FastifyRequest<{ Body: CompletionRequest; Headers: CompletionHeaders }>,
  options: ChatRouteOptions,
): ChatRequest {
  const { body, headers } = request
  const { agent, app } = splitModel(body.model, headers.agent)
  const conversation = conversationOf(request)
  return {
    requestId: request.id,
    face: 'openai',
    credential: request.apiKey,
    address: request.ip,
    agent: { id: agent, appId: app, model: body.model, isInModel: headers.agent === undefined },
    asks: {
      kind: 'messages',
      messages: callMessages(body),
      parameters: passedParameters(body),
      unsupported: unsupportedParameters(body).map((name) => [name]),
      keepsTurn: false,
    },
    conversation: { chatId: conversation, conversationId: conversation },
    endUser: endUserOf(request, options, body.user),
    stream: body.stream === true,
  }
}

function placesOf(request: FastifyRequest, options: ChatRouteOptions): FieldPlaces {
  const { agent, [CONVERSATION_HEADER]: conversation = '' } = request.headers
  const conversationPlace =
    conversation === '' ? inBody('metadata', 'conversation_id') : inHeader(CONVERSATION_HEADER)
  return {
    agent: agent === undefined ? inBody('model') : inHeader('agent'),
    appId: inBody('model'),
    chatId: conversationPlace,
    conversationId: conversationPlace,
    endUser: endUserPlace(request, options),
    files: inBody('messages'),
  }
}

/**
 * The header takes precedence over the body. An empty header counts as absent, since tools that fill in a template send one
 * when they have no value.
 */
function conversationOf({
  headers: { [CONVERSATION_HEADER]: header = '' },
  body: { metadata },
}: FastifyRequest<{ Body: CompletionRequest; Headers: CompletionHeaders }>): string {
  return header === '' ? (metadata?.conversation_id ?? '') : idOfHeader(CONVERSATION_HEADER, header)
}

function modelRecord({ id, platform }: { id: string; platform: string }) {
  return { id, object: 'model' as const, created: 0, owned_by: platform }
}

function modelOf(services: Services, request: FastifyRequest, id: string) {
  const model = services.agents.models(callerOf(request)).find((each) => each.id === id)
  if (model === undefined) throw new Problem('model_not_found')
  return modelRecord(model)
}

const completionSchema = {
  tags: ['openai'],
  operationId: 'createCompletion',
  'x-response-headers': CALL_HEADERS,
  summary: "Send a message to an agent through OpenAI's interface",
  description:
    "Accepts and returns what OpenAI's chat completions do. If the request names a conversation (in the header `X-Conversation-Id` or in `metadata.conversation_id`), platforms that keep the context of a conversation get only the last user message; otherwise all messages are sent. A stream that fails ends with one OpenAiError and without `[DONE]`.",
  security: [{ apiKey: [] }],
  headers: Type.Object({
    agent: AGENT_HEADER,
    [CONVERSATION_HEADER]: ConversationHeader,
  }),
  body: ref(CompletionRequestSchema),
  response: {
    200: {
      description: 'The completion.',
      content: {
        'application/json': { schema: ref(CompletionSchema) },
        'text/event-stream': { schema: Type.Union([ref(CompletionChunkSchema), ref(OpenAiErrorSchema)]) },
      },
    },
    ...problemsAs(OpenAiErrorSchema, [...CHAT_PROBLEMS, 'model_not_found']),
  },
}

const modelsSchema = {
  tags: ['openai'],
  operationId: 'listModels',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the models',
  description: 'Returns each agent and each of its apps that the key may use, as models.',
  security: [{ apiKey: [] }],
  querystring: listQuery({}),
  response: {
    200: ref(ModelListSchema),
    ...problemsAs(OpenAiErrorSchema, [...KEY_PROBLEMS, 'invalid_request']),
  },
}

const modelSchema = {
  tags: ['openai'],
  operationId: 'readModel',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read a model',
  description: 'Returns one of the models that the key may use.',
  security: [{ apiKey: [] }],
  params: Type.Object({
    '*': Type.String({ description: 'The id of the model. Its slash may be percent-encoded or not.' }),
  }),
  response: {
    200: ref(ModelSchema),
    ...problemsAs(OpenAiErrorSchema, [...KEY_PROBLEMS, 'model_not_found']),
  },
}
