import type { FastifyReply, FastifyRequest } from 'fastify'
import { headerOfId } from '../request/id-header.ts'

/** The headers `X-Call-Id` and, for a chat, `X-Conversation-Id`. */
export function callIdHeaders(callId: string, conversation?: string): Record<string, string> {
  const ofCall = { 'x-call-id': callId }
  return conversation === undefined ? ofCall : { ...ofCall, 'x-conversation-id': headerOfId(conversation) }
}

/** Names the call of a request in the headers of every response from here on, errors included, and in the request's log line. */
export function showCallId(
  request: FastifyRequest,
  reply: FastifyReply,
  callId: string,
  conversation?: string,
): void {
  request.callId = callId
  reply.headers(callIdHeaders(callId, conversation))
}
