import type { FastifyReply, FastifyRequest } from 'fastify'
import { headerOfId } from '../request/id-header.ts'

/** Names the call of a request in the headers of every response from here on, errors included, and in the request's log line. */
export function showCallId(
  request: FastifyRequest,
  reply: FastifyReply,
  callId: string,
  conversation?: string,
): void {
  request.callId = callId
  reply.header('x-call-id', callId)
  if (conversation !== undefined) reply.header('x-conversation-id', headerOfId(conversation))
}
