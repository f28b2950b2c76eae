import type { FastifyReply } from 'fastify'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'

/** Sets the `RateLimit` and `RateLimit-Policy` headers of the IETF draft on the response of a limited route. */
export function limitHeaders(
  reply: FastifyReply,
  { policy, points, windowSeconds, ...now }: LimitVerdict,
): void {
  reply.header('ratelimit-policy', `"${policy}";q=${points};w=${windowSeconds}`)
  reply.header('ratelimit', `"${policy}";r=${now.remaining};t=${now.resetSeconds}`)
}

/** Shows the limit of a call as soon as it is known, whether or not the call is then refused. */
export function showLimitOfCall(reply: FastifyReply): CallObserver {
  return (event) => {
    if (event.type === 'limited') limitHeaders(reply, event.verdict)
  }
}
