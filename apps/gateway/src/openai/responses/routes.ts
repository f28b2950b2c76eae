import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import type { Services } from '#core/services/services.ts'
import type { FieldPath } from '#core/values/field-path.ts'
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
import { judgeKeyFirst, requireChatKey } from '#http/guards/credentials.ts'
import { guardLargeBodies } from '#http/guards/large-bodies.ts'
import { CALL_HEADERS } from '#http/reply/response-headers.ts'
import { problemsAs, ref } from '#http/reply/schemas.ts'
import { type FieldPlaces, inBody, inHeader } from '#http/request/field-place.ts'
import { AGENT_HEADER, BODY_BYTES_MAX, CONVERSATION_HEADER, ConversationHeader } from '../headers.ts'
import { splitModel } from '../request.ts'
import { OpenAiErrorSchema } from '../schemas.ts'
import { collectResponse, ResponseEncoder } from './encoder.ts'
import { conversationOf, type ReadRequest, readRequest, withoutEmpty } from './request.ts'
import { echoOf } from './response.ts'
import {
  ResponseEventSchema,
  type ResponseRequest,
  ResponseRequestSchema,
  ResponseSchema,
} from './schemas.ts'

interface Route {
  readonly Body: ResponseRequest
  readonly Headers: { agent?: string; [CONVERSATION_HEADER]?: string }
}
type ResponseHttpRequest = FastifyRequest<Route>

/** The route of OpenAI's Responses API, which today's clients call by default. */
export function responsesRoutes(app: FastifyInstance, services: Services, options: ChatRouteOptions): void {
  for (const schema of [ResponseRequestSchema, ResponseSchema, ResponseEventSchema]) app.addSchema(schema)
  app.decorateRequest('messageFields', undefined)
  const bytesMax = Math.max(BODY_BYTES_MAX, options.bodyBytesMax)
  app.post<Route>(
    '/api/v1/responses',
    {
      config: { errors: 'openai', fieldPlaces: (request) => placesOf(request, options) },
      schema: responseSchema,
      bodyLimit: bytesMax,
      onRequest: [
        requireChatKey(services),
        guardLargeBodies(services, { bytesMax, smallBytesMax: options.bodyBytesMax }),
      ],
      preValidation: async (request) => {
        request.body = withoutEmpty(request.body) as ResponseRequest
      },
      errorHandler: judgeKeyFirst(services),
    },
    async (request, reply) => {
      const { body } = request
      const read = readRequest(body)
      request.messageFields = read.input.fields
      const call = chatRequest(request, read, options)
      const echo = echoOf(body, read, call.endUser)
      const { dropped } = read.tools
      if (dropped.length > 0) reply.header('x-dropped-tools', headerOfList(dropped))
      const chat = await startChat(services, request, reply, call)
      callHeaders(request, reply, chat)
      const { reasoning } = chat
      const encoder = new ResponseEncoder(chat, {
        echo,
        reasoning,
        details: read.details && call.stream,
        replaces: !call.stream,
      })
      if (!call.stream) return collectResponse(chat, encoder, options.replyBytesMax)
      await sendEventStream(reply, chat, encoder, options)
      return reply
    },
  )
}

function chatRequest(
  request: ResponseHttpRequest,
  read: ReadRequest,
  options: ChatRouteOptions,
): ChatRequest {
  const { body, headers } = request
  const { agent, app } = splitModel(body.model, headers.agent)
  const { [CONVERSATION_HEADER]: header = '' } = headers
  const conversation = conversationOf(body, header === '' ? '' : idOfHeader(CONVERSATION_HEADER, header))
  return {
    requestId: request.id,
    face: 'responses',
    credential: request.apiKey,
    address: request.ip,
    agent: { id: agent, appId: app, model: body.model, isInModel: headers.agent === undefined },
    asks: {
      kind: 'messages',
      messages: read.input.messages,
      parameters: read.parameters,
      unsupported: read.unsupported,
      keepsTurn: body.store !== false,
    },
    conversation: { chatId: conversation, conversationId: conversation, after: read.continued },
    endUser: endUserOf(request, options, body.user),
    stream: body.stream === true,
  }
}

function placesOf(request: FastifyRequest, options: ChatRouteOptions): FieldPlaces {
  const { agent, [CONVERSATION_HEADER]: header = '' } = request.headers
  const conversation = header === '' ? inBody('conversation') : inHeader(CONVERSATION_HEADER)
  return {
    agent: agent === undefined ? inBody('model') : inHeader('agent'),
    appId: inBody('model'),
    chatId: conversation,
    conversationId: conversation,
    endUser: endUserPlace(request, options),
    text: inBody('text', 'format'),
    messages: ([index, ...rest]) => {
      const field = request.messageFields?.[Number(index)] ?? ['input']
      return inBody(...field, ...rest.slice(0, 2))
    },
  }
}

/** What a client calls a tool is of its choosing. */
function headerOfList(names: readonly string[]): string {
  return [...new Set(names)]
    .map((name) => encodeURIComponent(name.slice(0, 64)))
    .slice(0, 32)
    .join(', ')
}

const responseSchema = {
  tags: ['openai'],
  operationId: 'createResponse',
  'x-response-headers': [...CALL_HEADERS, 'X-Dropped-Tools'],
  summary: "Send input to an agent through OpenAI's Responses API",
  description:
    "Accepts and returns what OpenAI's Responses API does. A conversation goes on by the header `X-Conversation-Id`, by `conversation`, by `previous_response_id` or by a reference to an item of its latest response; platforms then get only the last user message. Without one, all of the input is sent.",
  security: [{ apiKey: [] }],
  headers: Type.Object({ agent: AGENT_HEADER, [CONVERSATION_HEADER]: ConversationHeader }),
  body: ref(ResponseRequestSchema),
  response: {
    200: {
      description: 'The response.',
      content: {
        'application/json': { schema: ref(ResponseSchema) },
        'text/event-stream': { schema: ref(ResponseEventSchema) },
      },
    },
    ...problemsAs(OpenAiErrorSchema, [...CHAT_PROBLEMS, 'model_not_found', 'previous_response_not_found']),
  },
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where each message stands in a body of the Responses API, for error messages. */
    messageFields: readonly FieldPath[] | undefined
  }
}
