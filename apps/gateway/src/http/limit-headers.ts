import type { FastifyReply } from 'fastify'
import { Problem } from '#core/errors.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'

/** `RateLimit` headers (IETF draft) on every limited reply. */
export function limitHeaders(
  reply: FastifyReply,
  { policy, points, windowSeconds, ...now }: LimitVerdict,
): void {
  reply.header('ratelimit-policy', `"${policy}";q=${points};w=${windowSeconds}`)
  reply.header('ratelimit', `"${policy}";r=${now.remaining};t=${now.resetSeconds}`)
}

/** The same, and the refusal where the limit is exceeded. */
export function enforceLimit(reply: FastifyReply, verdict: LimitVerdict): void {
  limitHeaders(reply, verdict)
  if (!verdict.allowed) throw new Problem('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
}
