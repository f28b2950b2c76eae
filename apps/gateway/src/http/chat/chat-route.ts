import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Chat, ChatService } from '#core/calls/chats.ts'
import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import type { ErrorReason } from '#core/errors.ts'
import { showLimitOfCall } from '../reply/limit-headers.ts'
import { abortedWith } from '../request/aborted-with.ts'
import { type FieldPlace, inBody, inHeader, RequestProblem } from '../request/field-place.ts'
import type { StreamTimes } from './event-stream.ts'

export interface ChatRouteOptions extends StreamTimes {
  readonly replyBytesMax: number
  /** The largest body of a request that carries no files. */
  readonly bodyBytesMax: number
  /** The request header in which a trusted proxy names the end user. */
  readonly endUserHeader?: string | undefined
}

/**
 * Starts the call of a request and aborts it when the client closes its connection. From here on every response carries the
 * headers of the limit. Returns the service's own promise, since an `async` function would cost every call another one; the
 * caller must await it at once, because nothing else handles its rejection.
 * Removes the parsed body from the request, because Fastify would keep it in memory until the reply ends, which takes
 * minutes for a stream.
 */
export function startChat(
  { chat: service }: { readonly chat: Pick<ChatService, 'start'> },
  request: FastifyRequest,
  reply: FastifyReply,
  call: ChatRequest,
): Promise<Chat> {
  request.isKeyJudgedByCall = true
  request.body = undefined
  return service.start(call, abortedWith(reply), showLimitOfCall(reply))
}

/** Sets the headers that identify the call, for every response from here on, errors included. */
export function callHeaders(request: FastifyRequest, reply: FastifyReply, chat: Chat): void {
  request.callId = chat.callId
  reply.header('x-call-id', chat.callId).header('x-conversation-id', headerOfId(chat.conversationId))
}

/** The header of a trusted proxy takes precedence over the body, which the users behind that proxy may be able to set. */
export function endUserOf(
  request: FastifyRequest,
  { endUserHeader }: ChatRouteOptions,
  user: string | null | undefined,
): string {
  const value = headerOf(request, endUserHeader)
  return endUserHeader === undefined || value === undefined ? (user ?? '') : idOfHeader(endUserHeader, value)
}

/** The place from which {@link endUserOf} takes the end user, for error messages. */
export function endUserPlace(request: FastifyRequest, { endUserHeader }: ChatRouteOptions): FieldPlace {
  return endUserHeader === undefined || headerOf(request, endUserHeader) === undefined
    ? inBody('user')
    : inHeader(endUserHeader)
}

function headerOf(request: FastifyRequest, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The form of an id in a header. An id may be any text and a header value may not, so ids are percent-encoded in both
 * directions where they contain a `%` or anything but printable ASCII.
 */
export function headerOfId(id: string): string {
  return PLAIN_ID.test(id) ? id : encodeURIComponent(id)
}

/** Printable ASCII without `%`, and without spaces at either end, which HTTP strips. */
const PLAIN_ID = /^(?! )[\x20-\x24\x26-\x7e]*(?<! )$/

/**
 * The id in a header value of the form of {@link headerOfId}.
 *
 * @throws {@link RequestProblem} if the value is neither plain nor valid percent-encoded UTF-8
 */
export function idOfHeader(name: string, value: string): string {
  if (PLAIN_ID.test(value)) return value
  try {
    if (PRINTABLE_ASCII.test(value)) return decodeURIComponent(value)
  } catch {
    // An incomplete escape, or bytes that are not UTF-8.
  }
  throw new RequestProblem(
    inHeader(name),
    'expected printable ASCII, and percent-encoded UTF-8 for all else.',
  )
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** The reasons with which a chat call can fail on every face. */
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
  'upload_not_found',
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
