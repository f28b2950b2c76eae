import type { FastifyReply } from 'fastify'
import type { LimitVerdict } from '#core/limits/limits.ts'

/** `RateLimit` headers (IETF draft) on every limited reply. */
export function limitHeaders(
  reply: FastifyReply,
  { policy, points, windowSeconds, ...now }: LimitVerdict,
): void {
  reply.header('ratelimit-policy', `"${policy}";q=${points};w=${windowSeconds}`)
  reply.header('ratelimit', `"${policy}";r=${now.remaining};t=${now.resetSeconds}`)
}
