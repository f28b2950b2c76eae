import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Chat } from '#core/chat/service.ts'
import type { ErrorReason } from '#core/errors.ts'
import type { StreamTimes } from './event-stream.ts'

/** What the chat routes share: their options, the client's signal and end user, the headers and reasons of a call. */
export interface ChatRouteOptions extends StreamTimes {
  readonly replyBytesMax: number
  /** The request header of a trusted front that names the end user. */
  readonly endUserHeader?: string | undefined
}

/** One signal from the client's socket to the platform's. */
export function abortedWith(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** The front's word stands above the body's, which its own users could write. */
export function endUserOf(
  request: FastifyRequest,
  { endUserHeader }: ChatRouteOptions,
  user: string | undefined,
): string {
  const value = endUserHeader === undefined ? undefined : request.headers[endUserHeader]
  return typeof value === 'string' && value !== '' ? value : (user ?? '')
}

/** From here on every answer of the request, an error too, names the call. */
export function callHeaders(request: FastifyRequest, reply: FastifyReply, chat: Chat): void {
  request.callId = chat.callId
  reply.header('x-call-id', chat.callId).header('x-conversation-id', headerText(chat.conversationId))
}

/** Conversation ids are any text; a header takes only ASCII, the rest goes percent-encoded. */
function headerText(id: string): string {
  return /^[\x20-\x7e]*$/.test(id) ? id : encodeURIComponent(id)
}

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
