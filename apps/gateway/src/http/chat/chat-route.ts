import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  preValidationHookHandler,
} from 'fastify'
import type { ChatEvents } from '#core/agents/events.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { Chat, ChatService } from '#core/calls/chats.ts'
import { collectReply } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { ChatRequest, KeptRequest } from '#core/calls/request/chat-request.ts'
import type { EndTurn } from '#core/limits/sharing/owner-turns.ts'
import type { KeptForm, ReplyCollector } from '#core/reply-log/kept-form.ts'
import type { KeptReply } from '#core/reply-log/replies.ts'
import type { Services } from '#core/services/services.ts'
import { judgeKeyFirst, requireChatKey } from '../guards/credentials.ts'
import { abortedWith } from '../request/aborted-with.ts'
import { endUserReader, readNoEndUser } from '../request/end-user.ts'
import { type FieldPlaces, inBody } from '../request/field-place.ts'
import { limitHeaders, showCallId, showDroppedTools } from '../response/show-headers.ts'
import { bodyHash } from './body-hash.ts'
import type { ChunkEncoder } from './completion-form.ts'
import { type StreamTimes, sendEventStream } from './event-stream.ts'
import { cursorOf, IDEMPOTENCY_KEY, idempotencyKeyOf, sha256 } from './kept-request.ts'
import { sendKeptStream } from './kept-stream.ts'

export interface ChatRouteOptions extends StreamTimes {
  readonly replyBytesMax: number
  /** Whether replies are kept for requests with an `Idempotency-Key`. */
  readonly keepsReplies: boolean
  /** The largest body of a request that carries no files. */
  readonly bodyBytesMax: number
}

/** What every face calls the end user and the wish for a stream. */
interface ChatBody {
  readonly user?: string | null
  readonly stream?: boolean | null
}

export type ChatHttpRequest<Body> = FastifyRequest<{ Body: Body; Headers: ChatHeaders }>

/** The id of an agent in the header; the headers of faces that have more are read from the request. */
interface ChatHeaders {
  readonly agent?: string
}

/** What a face reads of a request: what it asks, and what the reply must be written with. */
export interface ReadChat<Form> extends Pick<ChatRequest, 'agent' | 'asks' | 'conversation' | 'answer'> {
  readonly form: Form
}

/** What a face supplies to the shared chat route. */
export interface ChatRoute<Body extends ChatBody, Form> {
  readonly url: string
  readonly face: ChatRequest['face']
  readonly errors?: 'openai'
  readonly schema: FastifySchema
  /** The largest body where it may carry files; other routes have the gateway's usual limit. */
  readonly bodyBytesMax?: number
  readonly preValidation?: preValidationHookHandler
  /** The places of fields, apart from that of the end user. */
  readonly fieldPlaces: (request: FastifyRequest) => FieldPlaces
  /** Reads a request whose schema holds. What it returns as the form is kept until the reply has ended. */
  readonly read: (request: ChatHttpRequest<Body>, reply: FastifyReply) => ReadChat<Form>
  /** What the sound fields of a refused request ask, so that the rules can be applied to them. */
  readonly readSound?: (body: Partial<Body>, headers: ChatHeaders) => Omit<ReadChat<Form>, 'form'>
  readonly encode: (chat: ChatHead, form: Form) => ChunkEncoder
  /** Collects the whole reply for JSON. */
  readonly collector: (chat: ChatHead, form: Form) => ReplyCollector
}

/** Adds the chat route of a face, which replies with JSON or with a stream. */
export function chatRoute<Body extends ChatBody, Form>(
  app: FastifyInstance,
  services: Services,
  options: ChatRouteOptions,
  route: ChatRoute<Body, Form>,
): void {
  const { errors, fieldPlaces, schema, preValidation } = route
  const isBound = services.authentication.endUserHeader !== undefined
  app.post<{ Body: Body; Headers: ChatHeaders }>(
    route.url,
    {
      config: {
        ...(errors !== undefined && { errors }),
        face: route.face,
        fieldPlaces: (request) => ({ ...fieldPlaces(request), endUser: inBody('user') }),
        judge: (request, { body }) => judgeChat(services.chat, request, body, route),
      },
      schema,
      bodyLimit: Math.max(route.bodyBytesMax ?? 0, options.bodyBytesMax),
      onRequest: requireChatKey(services),
      ...(preValidation !== undefined && { preValidation }),
      errorHandler: judgeKeyFirst(services),
    },
    // It is not async, because an async function would keep the texts of the request in memory as long as the reply lasts.
    (request, reply) => {
      const body = request.body as ChatBody
      const endUser = body.user ?? ''
      const stream = body.stream === true
      const key =
        IDEMPOTENCY_KEY in request.headers ? idempotencyKeyOf(request, options.keepsReplies) : undefined
      // Before the face may change what was parsed.
      const hashOfBody = key === undefined ? '' : bodyHash(body)
      const after = key === undefined ? 0 : (cursorOf(request.headers['last-event-id']) ?? 0)
      const { agent, asks, conversation, answer: given, form } = route.read(request, reply)
      const call: ChatRequest = {
        requestId: request.id,
        trace: request.trace,
        face: route.face,
        credential: request.apiKey,
        address: request.ip,
        agent,
        asks,
        conversation,
        answer: given,
        endUser,
        readEndUser: isBound ? endUserReader(request, services.authentication) : readNoEndUser,
        stream,
      }
      request.isKeyJudgedByCall = true
      // Fastify would keep the parsed body in memory until the reply ends, which takes minutes for a stream.
      ;(request as FastifyRequest).body = undefined
      if (key !== undefined) {
        const kept: KeptRequest = {
          keyHash: sha256(key),
          bodyHash: hashOfBody,
          form: keptFormOf(route, form),
        }
        const signal = abortedWith(reply)
        return answerKept(
          { request, reply, stream, after, signal },
          services.chat.startKept({ ...call, kept }, signal, showCall(reply)),
          options,
        )
      }
      return answer(
        { request, reply, stream, form },
        // The service's own promise, since an async function in between would cost every call another one.
        services.chat.start(call, abortedWith(reply), showCall(reply)),
        route,
        options,
      )
    },
  )
}

/** Finds the mistakes beside those of the types; of a call that was started, the service has found them. */
function judgeChat<Body extends ChatBody, Form>(
  service: Pick<ChatService, 'check'>,
  request: FastifyRequest,
  sound: unknown,
  { readSound, face }: Pick<ChatRoute<Body, Form>, 'readSound' | 'face'>,
): void {
  const { principal, isKeyJudgedByCall } = request
  if (readSound === undefined || principal === undefined || isKeyJudgedByCall) return
  const body = (sound ?? {}) as Partial<Body>
  service.check(principal, {
    ...readSound(body, request.headers as ChatHeaders),
    requestId: request.id,
    face,
    credential: request.apiKey,
    address: request.ip,
    endUser: body.user ?? '',
    readEndUser: readNoEndUser,
    stream: false,
  })
}

interface Asked<Form> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly stream: boolean
  readonly form: Form
}

async function answer<Form>(
  { request, reply, stream, form }: Asked<Form>,
  starting: Promise<Chat>,
  { encode, collector }: Pick<ChatRoute<never, Form>, 'encode' | 'collector'>,
  options: ChatRouteOptions,
): Promise<unknown> {
  const started = await starting
  const { endLargeBody } = request
  const chat = endLargeBody === undefined ? started : withLargeBody(started, endLargeBody)
  showCallId(request, reply, chat.callId, chat.conversationId)
  if (!stream) return collectReply(chat.events, collector(chat, form), options.replyBytesMax)
  await sendEventStream(reply, chat, encode(chat, form), options)
  return reply
}

/** Gives back the memory of a large body at the first event of its reply, when the call has dropped its texts. */
function withLargeBody(chat: Chat, end: EndTurn): Chat {
  const { events } = chat
  const ending: ChatEvents = {
    read: (take) =>
      events.read((batch) => {
        end()
        return take(batch)
      }),
    leave: () => events.leave(),
  }
  return { ...chat, events: ending }
}

/** Shows in the headers what is known of a call before its reply, whether or not it is then refused. */
function showCall(reply: FastifyReply): CallObserver {
  return (event) => {
    if (event.type === 'limited') limitHeaders(reply, event.verdict)
    if (event.type === 'tools_ignored') showDroppedTools(reply, event.kinds)
    if (event.type === 'history_left_out') reply.header('x-history', 'last-message')
  }
}

/** The form in which the reply is kept. Separate from the route's handler, whose variables it would keep in memory. */
function keptFormOf<Form>(
  { encode, collector: collectorOf }: Pick<ChatRoute<never, Form>, 'encode' | 'collector'>,
  form: Form,
): (chat: ChatHead) => KeptForm {
  return (chat) => {
    const encoder = encode(chat, form)
    const collector = collectorOf(chat, form)
    return {
      hasIds: true,
      encode: (event) => encoder.encode(event),
      fail: (problem) => encoder.fail(problem),
      collector,
      serialize: () => JSON.stringify(collector.reply),
    }
  }
}

interface AskedKept {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly stream: boolean
  /** The number of the last event that the client has. */
  readonly after: number
  readonly signal: AbortSignal
}

async function answerKept(
  { request, reply, stream, after, signal }: AskedKept,
  starting: Promise<KeptReply>,
  times: StreamTimes,
): Promise<unknown> {
  const kept = await starting
  const { callId, conversation } = kept.call
  showCallId(request, reply, callId, conversation)
  if (kept.isReplay) reply.header('idempotent-replayed', 'true')
  if (stream) {
    await sendKeptStream(reply, kept, { ...times, after, signal, refuses: true })
    return reply
  }
  // The text is sent as it was stored, and must not be serialized again.
  return reply.type('application/json; charset=utf-8').send(await kept.whole(signal))
}

/** The reasons with which an admitted call can fail, so that its kept reply is that failure. */
export const FAILURES_OF_CALLS = [
  'agent_rejected_input',
  'content_filtered',
  'app_not_found',
  'conversation_not_found',
  'conversation_busy',
  'stopped',
  'agent_rate_limited',
  'agent_credentials',
  'agent_quota',
  'agent_misconfigured',
  'agent_error',
  'agent_malformed',
  'agent_truncated',
  'agent_empty_reply',
  'agent_requires_action',
  'agent_unreachable',
  'agent_timeout',
  'interrupted',
] as const satisfies ErrorReason[]

/** The reasons with which a chat can fail on every face. */
export const CHAT_PROBLEMS = [
  ...FAILURES_OF_CALLS,
  'invalid_request',
  'invalid_json',
  'unknown_agent',
  'app_id_required',
  'credential_missing',
  'credential_malformed',
  'api_key_required',
  'key_unknown',
  'key_expired',
  'key_rotated',
  'key_paused',
  'address_denied',
  'key_revoked',
  'owner_suspended',
  'permission_denied',
  'agent_denied',
  'upload_not_found',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'quota_exceeded',
  'agent_unavailable',
  'agent_overloaded',
  'reply_gone',
  'idempotency_mismatch',
  'answer_required',
  'pause_over',
  'unavailable',
] as const satisfies ErrorReason[]
