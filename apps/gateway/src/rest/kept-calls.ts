import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import { FAILURES_OF_CALLS } from '#http/chat/chat-route.ts'
import type { StreamTimes } from '#http/chat/event-stream.ts'
import { cursorOf, keptCallRefOf } from '#http/chat/kept-request.ts'
import { sendKeptStream } from '#http/chat/kept-stream.ts'
import { KEEP_ALIVE_DESCRIPTION } from '#http/descriptions/chat-descriptions.ts'
import { anyCredential, callerOf, KEY_PROBLEMS, keyOnly } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import type { FieldPlaces } from '#http/request/field-place.ts'
import { headerOfId } from '#http/request/request-headers.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { CALL_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, nullable, problems, success, uuid } from '#http/response/schemas.ts'
import { showCallId, showLimit } from '#http/response/show-headers.ts'
import { STOP_CALL, STOP_OUTCOME } from '#resources/call.ts'
import { CALL_OUTCOME } from '#resources/call-words.ts'
import { wordSchema } from '#resources/define/define-resource.ts'

/** Reads and resumes kept calls, which are those with an `Idempotency-Key`, and stops calls of every kind. */
export function keptCallRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'replies' | 'callStops' | 'authentication' | 'reads'>,
  times: StreamTimes,
): void {
  const { replies, callStops } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = keyOnly(services)
  const reads = smallRead(services)

  routes.get(
    '/api/v1/calls/:call_id/stream',
    {
      config: { fieldPlaces: callInPath },
      schema: streamSchema,
      onRequest,
      ...reads,
    },
    async (request, reply) => {
      const after = cursorOf(request.headers['last-event-id'], request.query.after) ?? 0
      const kept = await replies.resume(callerOf(request), keptCallRefOf(request.params.call_id), 'events')
      // A stream may last for an hour, in which its owner reads other things.
      request.endRead?.()
      showCallId(request, reply, kept.call.callId, kept.call.conversation)
      // A HEAD request is no reader.
      if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('')
      await sendKeptStream(reply, kept, { ...times, after, signal: abortedWith(reply), refuses: false })
      return reply
    },
  )

  routes.get(
    '/api/v1/calls/:call_id/reply',
    { schema: replySchema, onRequest, ...reads },
    async (request, reply) => {
      const now = await replies.reply(callerOf(request), keptCallRefOf(request.params.call_id))
      reply.header('x-call-id', now.call.callId)
      reply.header('x-conversation-id', headerOfId(now.call.conversation))
      if (now.kind === 'running') {
        reply.status(202).header('retry-after', '1')
        return success({ call_id: now.call.callId })
      }
      // The text that the client of the call got, which must not be serialized again.
      return reply.type('application/json; charset=utf-8').send(now.reply)
    },
  )

  routes.post(
    '/api/v1/calls/:call_id/stop',
    { schema: stopSchema, onRequest: anyCredential(services), ...reads },
    async (request) => {
      const ref = keptCallRefOf(request.params.call_id)
      const { callId, outcome } = await callStops.stop(callerOf(request), ref)
      return success({ call_id: callId, outcome })
    },
  )

  routes.delete(
    '/api/v1/calls/:call_id/reply',
    { schema: deleteSchema, onRequest },
    async (request, reply) => {
      const ref = keptCallRefOf(request.params.call_id)
      const { callId } = await replies.remove(callerOf(request), ref, showLimit(reply))
      return success({ call_id: callId })
    },
  )
}

function callInPath(): FieldPlaces {
  return { callId: { part: 'path', path: ['call_id'] } }
}

const params = Type.Object({
  call_id: Type.String({
    description:
      'The id of the call, or `key:` and its `Idempotency-Key`, percent-encoded: a client may not know the id yet.',
    examples: ['019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10', 'key:order-17'],
  }),
})

function anyObject(description: string) {
  return Type.Unsafe<string>({ type: 'object', description, additionalProperties: true })
}

const COMMON = {
  tags: ['calls'],
  'x-response-headers': CALL_HEADERS,
  security: [{ apiKey: [] }],
  params,
}

const PROBLEMS = [...KEY_PROBLEMS, 'invalid_request', 'call_not_found', 'reply_gone'] as const

const streamSchema = {
  ...COMMON,
  operationId: 'resumeCall',
  summary: 'Resume the stream of a call',
  description: `Returns the events of a kept call after the one that the client has, and goes on while the call runs. Only the API key that made the call may read it, for the same end user where a trusted proxy names end users. It never starts another run: a stream whose process has died ends with one event whose reason is \`interrupted\`. Chats of GraphQL are resumed there. ${KEEP_ALIVE_DESCRIPTION}`,
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({
        description: 'The `id` of the last event that the client has. Without it the stream begins anew.',
      }),
    ),
  }),
  querystring: listQuery({
    after: Type.Optional(
      Type.String({ description: 'The same as the header `Last-Event-ID`, which takes precedence.' }),
    ),
  }),
  response: {
    200: {
      description: 'The events, in the form of the route on which the call was made.',
      content: {
        'text/event-stream': {
          schema: anyObject('An event, in the form of the route on which the call was made.'),
        },
      },
    },
    ...problems(...PROBLEMS),
  },
}

const replySchema = {
  ...COMMON,
  operationId: 'readReply',
  summary: 'Read the reply of a call',
  description:
    'Returns the JSON reply of a kept call that has ended, also of one that requested a stream, in the form of the route on which it was made. While the call runs the status is 202. The reply of a call that has failed is its error.',
  response: {
    200: {
      description: 'The reply.',
      content: {
        'application/json': {
          schema: anyObject('The reply, in the form of the route on which the call was made.'),
        },
      },
    },
    202: envelope(Type.Object({ call_id: uuid('The id of the call.') }), 'The call is still running.'),
    ...problems(...PROBLEMS, ...FAILURES_OF_CALLS),
  },
}

const stopSchema = {
  ...COMMON,
  operationId: 'stopCall',
  summary: 'Stop a call',
  description: STOP_CALL,
  security: [{ accessToken: [] }, { apiKey: [] }],
  response: {
    200: envelope(
      Type.Object({
        call_id: uuid('The id of the call.'),
        outcome: nullable(wordSchema(CALL_OUTCOME, ''), STOP_OUTCOME),
      }),
    ),
    ...problems(...KEY_PROBLEMS, ...BODY_PROBLEMS, 'call_not_found'),
  },
}

const deleteSchema = {
  ...COMMON,
  operationId: 'deleteReply',
  summary: 'Delete the reply of a call',
  description:
    'Deletes what is kept of the reply of a call. Its `Idempotency-Key` is not free by that: the same request is answered with `reply_gone` until the retention ends.',
  response: {
    200: envelope(Type.Object({ call_id: uuid('The id of the call.') })),
    ...problems(...KEY_PROBLEMS, ...BODY_PROBLEMS, 'call_not_found'),
  },
}
