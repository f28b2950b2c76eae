import type { FastifyInstance } from 'fastify'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { Services } from '#core/services/services.ts'
import { CHAT_PROBLEMS, type ChatRoute, type ChatRouteOptions, chatRoute } from '#http/chat/chat-route.ts'
import { KEEP_ALIVE_DESCRIPTION } from '#http/descriptions/chat-descriptions.ts'
import { inBody } from '#http/request/field-place.ts'
import { KEPT_CALL_HEADERS } from '#http/response/response-headers.ts'
import { problemsAs, ref } from '#http/response/schemas.ts'
import { showDroppedTools } from '#http/response/show-headers.ts'
import { agentNameOf, BODY_BYTES_MAX, CHAT_HEADERS, conversationInHeader, headerPlaces } from '../headers.ts'
import { sentFields } from '../request.ts'
import { OpenAiErrorSchema } from '../schemas.ts'
import { ResponseEncoder, responseCollector } from './encoder.ts'
import { conversationOf, readRequest, withoutEmpty } from './request.ts'
import { type Echo, echoOf } from './response.ts'
import {
  ResponseEventSchema,
  type ResponseRequest,
  ResponseRequestSchema,
  ResponseSchema,
} from './schemas.ts'

/** The route of OpenAI's Responses API, which today's clients call by default. */
export function responsesRoute(app: FastifyInstance, services: Services, options: ChatRouteOptions): void {
  for (const schema of [ResponseRequestSchema, ResponseSchema, ResponseEventSchema]) app.addSchema(schema)
  app.decorateRequest('messageFields', undefined)
  chatRoute(app, services, options, route)
}

const responseSchema = {
  tags: ['openai'],
  operationId: 'createResponse',
  'x-response-headers': [...KEPT_CALL_HEADERS, 'X-Dropped-Tools', 'X-History'],
  summary: "Send input to an agent through OpenAI's Responses API",
  description: `Accepts and returns what OpenAI's Responses API does. A conversation goes on by the header \`X-Conversation-Id\`, by \`conversation\`, by \`previous_response_id\` or by a reference to an item of its latest response; platforms then get only the last user message, and \`X-History: last-message\` says so. Of a conversation that has no turn yet, and without one, all of the input is sent. ${KEEP_ALIVE_DESCRIPTION}`,
  security: [{ apiKey: [] }],
  headers: CHAT_HEADERS,
  body: ref(ResponseRequestSchema),
  response: {
    200: {
      description: 'The response.',
      content: {
        'application/json': { schema: ref(ResponseSchema) },
        'text/event-stream': { schema: ref(ResponseEventSchema) },
      },
    },
    ...problemsAs(OpenAiErrorSchema, [
      ...CHAT_PROBLEMS,
      'model_not_found',
      'previous_response_not_found',
      'file_type_not_accepted',
    ]),
  },
}

const route: ChatRoute<ResponseRequest, ResponseForm> = {
  url: '/api/v1/responses',
  face: 'responses',
  errors: 'openai',
  schema: responseSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  preValidation: async (request) => {
    request.body = withoutEmpty(request.body)
  },
  fieldPlaces: (request) => ({
    ...headerPlaces(request, inBody('conversation')),
    text: inBody('text', 'format'),
    messages: ([index, ...rest]) => {
      const field = request.messageFields?.[Number(index)] ?? ['input']
      return inBody(...field, ...rest.slice(0, 2))
    },
  }),
  read(request, reply) {
    const { body } = request
    const read = readRequest(body)
    request.messageFields = read.input.fields
    const { dropped } = read.tools
    showDroppedTools(reply, dropped)
    const conversation = conversationOf(body, conversationInHeader(request))
    return {
      agent: agentNameOf(body.model, request.headers),
      asks: {
        kind: 'messages',
        messages: read.input.messages,
        parameters: read.parameters,
        sentFields: sentFields({ user: body.user }),
        tools: read.functions,
        unsupported: read.unsupported,
        keepsTurn: body.store !== false,
      },
      conversation: { chatId: conversation, conversationId: conversation, after: read.continued },
      answer: body.answer ?? undefined,
      form: { echo: echoOf(body, read), details: read.details },
    }
  },
  encode: (chat, { echo, details }) =>
    new ResponseEncoder(chat, { echo, reasoning: chat.reasoning, details, replaces: false }),
  collector(chat, { echo }) {
    const encoder = new ResponseEncoder(chat, {
      echo,
      reasoning: chat.reasoning,
      details: false,
      replaces: true,
    })
    return responseCollector(encoder)
  },
}

interface ResponseForm {
  /** What a response repeats of its request. */
  readonly echo: Echo
  readonly details: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where each message stands in a body of the Responses API, for error messages. */
    messageFields: readonly FieldPath[] | undefined
  }
}
