import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChatCall } from '#core/chat/chat-call.ts'
import type { Chat, ChatService } from '#core/chat/service.ts'
import type { ErrorReason } from '#core/errors.ts'
import { handled } from '#core/handled.ts'
import type { StreamTimes } from './event-stream.ts'
import { type FieldPlace, inBody, inHeader, RequestProblem } from './field-place.ts'
import { limitHeaders } from './limit-headers.ts'

/** What the chat routes share: their options, the start of a call, its end user, its headers and its reasons to fail. */
export interface ChatRouteOptions extends StreamTimes {
  readonly replyBytesMax: number
  /** The request header of a trusted front that names the end user. */
  readonly endUserHeader?: string | undefined
}

/**
 * Starts the call of a request. It ends when the client closes its connection. Every answer from here on carries the headers
 * of the limit. Returns the service's own promise, since another one would cost every call. The parsed body is the call's
 * from then on: Fastify would hold it until the reply has ended, which for a stream takes minutes.
 */
export function startChat(
  { chat: service }: { readonly chat: Pick<ChatService, 'start'> },
  request: FastifyRequest,
  reply: FastifyReply,
  call: ChatCall,
): Promise<Chat> {
  request.isKeyJudgedByCall = true
  const chat = handled(service.start(call, abortedWith(reply), (verdict) => limitHeaders(reply, verdict)))
  request.body = undefined
  return chat
}

/** Names the call in every answer of the request from here on, also in an error. */
export function callHeaders(request: FastifyRequest, reply: FastifyReply, chat: Chat): void {
  request.callId = chat.callId
  reply.header('x-call-id', chat.callId).header('x-conversation-id', headerOfId(chat.conversationId))
}

/** One signal from the client's socket to the platform's. */
function abortedWith(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** A trusted front's header takes precedence over the body, which the front's own users could write. */
export function endUserOf(
  request: FastifyRequest,
  { endUserHeader }: ChatRouteOptions,
  user: string | null | undefined,
): string {
  const value = headerOf(request, endUserHeader)
  return endUserHeader === undefined || value === undefined ? (user ?? '') : idOfHeader(endUserHeader, value)
}

export function endUserPlace(request: FastifyRequest, { endUserHeader }: ChatRouteOptions): FieldPlace {
  return endUserHeader === undefined || headerOf(request, endUserHeader) === undefined
    ? inBody('user')
    : inHeader(endUserHeader)
}

function headerOf(request: FastifyRequest, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** An id is any text, and a header is not: both ways an id goes percent-encoded where it holds anything but printable ASCII. */
export function headerOfId(id: string): string {
  return PLAIN_ID.test(id) ? id : encodeURIComponent(id)
}

/** Printable ASCII without `%`, and without blanks at its ends, which HTTP cuts off. */
const PLAIN_ID = /^(?! )[\x20-\x24\x26-\x7e]*(?<! )$/

/** The id that a header holds in the form of {@link headerOfId}. */
export function idOfHeader(name: string, value: string): string {
  if (PLAIN_ID.test(value)) return value
  try {
    if (PRINTABLE_ASCII.test(value)) return decodeURIComponent(value)
  } catch {
    // Half an escape, or bytes that are not UTF-8.
  }
  throw new RequestProblem(
    inHeader(name),
    'expected printable ASCII, and percent-encoded UTF-8 for all else.',
  )
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Everything that a chat call can end with, whatever the face. */
export const CHAT_PROBLEMS = [
  'invalid_request',
  'invalid_json',
  'unknown_agent',
  'app_id_required',
  'agent_rejected_input',
  'content_filtered',
  'credential_missing',
  'credential_malformed',
  'api_key_required',
  'key_unknown',
  'key_expired',
  'key_revoked',
  'owner_suspended',
  'permission_denied',
  'agent_denied',
  'app_not_found',
  'conversation_not_found',
  'conversation_busy',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'quota_exceeded',
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
  'unavailable',
] as const satisfies ErrorReason[]
