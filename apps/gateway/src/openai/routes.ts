import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '#core/base/errors/errors.ts'
import { PartsCollector } from '#core/calls/reading/collect-reply.ts'
import type { Services } from '#core/services/services.ts'
import { CHAT_PROBLEMS, type ChatRoute, type ChatRouteOptions, chatRoute } from '#http/chat/chat-route.ts'
import { KEEP_ALIVE_DESCRIPTION } from '#http/descriptions/chat-descriptions.ts'
import { callerOf, KEY_PROBLEMS, keyOnly } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { inBody } from '#http/request/field-place.ts'
import { noStore } from '#http/response/no-store.ts'
import { KEPT_CALL_HEADERS, LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { listQuery, problemsAs, ref } from '#http/response/schemas.ts'
import { createCompletionEncoder } from './chunks.ts'
import { agentNameOf, BODY_BYTES_MAX, CHAT_HEADERS, conversationInHeader, headerPlaces } from './headers.ts'
import { completionOf } from './reply.ts'
import { callMessages, passedParameters, sentFields, unsupportedOf } from './request.ts'
import { responsesRoute } from './responses/routes.ts'
import {
  CompletionChunkSchema,
  type CompletionRequest,
  CompletionRequestSchema,
  CompletionSchema,
  ModelListSchema,
  ModelSchema,
  OpenAiErrorSchema,
} from './schemas.ts'

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
  const config = { errors: 'openai', face: 'openai' } as const
  const reads = smallRead(services)

  chatRoute(app, services, options, completionRoute)
  responsesRoute(app, services, options)

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
  'x-response-headers': [...KEPT_CALL_HEADERS, 'X-Dropped-Tools', 'X-History'],
  summary: "Send a message to an agent through OpenAI's interface",
  description: `Accepts and returns what OpenAI's chat completions do. If the request names a conversation (in the header \`X-Conversation-Id\` or in \`metadata.conversation_id\`), platforms that keep the context of a conversation get only the last user message, and \`X-History: last-message\` says so; of a conversation that has no turn yet, and without one, all messages are sent. A stream that fails ends with one OpenAiError and without \`[DONE]\`. ${KEEP_ALIVE_DESCRIPTION}`,
  security: [{ apiKey: [] }],
  headers: CHAT_HEADERS,
  body: ref(CompletionRequestSchema),
  response: {
    200: {
      description: 'The completion.',
      content: {
        'application/json': { schema: ref(CompletionSchema) },
        'text/event-stream': { schema: Type.Union([ref(CompletionChunkSchema), ref(OpenAiErrorSchema)]) },
      },
    },
    ...problemsAs(OpenAiErrorSchema, [...CHAT_PROBLEMS, 'model_not_found', 'file_type_not_accepted']),
  },
}

const completionRoute: ChatRoute<CompletionRequest, CompletionForm> = {
  url: '/api/v1/chat/completions',
  face: 'openai',
  errors: 'openai',
  schema: completionSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  fieldPlaces: (request) => ({
    ...headerPlaces(request, inBody('metadata', 'conversation_id')),
    files: inBody('messages'),
  }),
  read(request) {
    const { body } = request
    const conversation = conversationInHeader(request) || (body.metadata?.conversation_id ?? '')
    return {
      agent: agentNameOf(body.model, request.headers),
      asks: {
        kind: 'messages',
        messages: callMessages(body),
        parameters: passedParameters(body),
        sentFields: sentFields(body),
        ...unsupportedOf(body),
        keepsTurn: false,
      },
      conversation: { chatId: conversation, conversationId: conversation },
      answer: body.answer ?? undefined,
      form: { includeUsage: body.stream_options?.include_usage === true },
    }
  },
  encode: (chat, { includeUsage }) =>
    createCompletionEncoder(chat, { reasoning: chat.reasoning, includeUsage }),
  collector: (chat) =>
    new PartsCollector(
      chat.model,
      { reasoning: chat.reasoning, toolCalls: true, openAiFields: true },
      (reply) => completionOf(chat, reply),
    ),
}

interface CompletionForm {
  /** Whether a chunk with the usage precedes `[DONE]` in a stream. */
  readonly includeUsage: boolean
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
