import type { FastifyReply } from 'fastify'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { LimitVerdict, OnLimit } from '#core/limits/limits.ts'

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
