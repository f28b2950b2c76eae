import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { LimitVerdict, OnLimit } from '#core/limits/limits.ts'
import { headerOfId } from '../request/request-headers.ts'

/** Sets the `RateLimit` and `RateLimit-Policy` headers of the IETF draft on the response of a limited route. */
export function limitHeaders(
  reply: FastifyReply,
  { policy, points, windowSeconds, ...now }: LimitVerdict,
): void {
  reply.header('ratelimit-policy', `"${policy}";q=${points};w=${windowSeconds}`)
  reply.header('ratelimit', `"${policy}";r=${now.remaining};t=${now.resetSeconds}`)
}

/** Shows a limit as soon as it is known, whether or not the request is then refused. Of several in one, the last is shown. */
export function showLimit(reply: FastifyReply): OnLimit {
  return (verdict) => limitHeaders(reply, verdict)
}

/** Shows the limit of a call as soon as it is known, whether or not the call is then refused. */
export function showLimitOfCall(reply: FastifyReply): CallObserver {
  return (event) => {
    if (event.type === 'limited') limitHeaders(reply, event.verdict)
  }
}

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

const DROPPED_TOOLS = 'x-dropped-tools'

/** Adds kinds of tools to those of which the response says that they were left out. What a client calls a tool is of its choosing. */
export function showDroppedTools(reply: FastifyReply, kinds: readonly string[]): void {
  const before = reply.getHeader(DROPPED_TOOLS)
  const shown = [
    ...(typeof before === 'string' ? before.split(', ') : []),
    ...kinds.map((kind) => encodeURIComponent(kind.slice(0, 64))),
  ]
  if (shown.length > 0) reply.header(DROPPED_TOOLS, [...new Set(shown)].slice(0, 32).join(', '))
}
