import type { onRequestHookHandler } from 'fastify'
import { ByteBudget } from '#core/limits/byte-budget.ts'
import type { Services } from '#core/services/services.ts'
import { originOf } from './credentials.ts'

export interface LargeBodyOptions {
  /** A body up to this length is read for any well-formed key, like those of other routes. */
  readonly smallBytesMax: number
  readonly bytesMax: number
}

/** What the large bodies of one process may take in all. */
const HELD_BYTES_MAX = 512 * 1024 * 1024

/**
 * Creates a hook for a route with a larger body limit than others. A body is in memory before its call is admitted, so a
 * large one is read only for a valid key, and only as long as all of them together do not take too much. Must come after
 * `requireChatKey`.
 */
export function guardLargeBodies(
  { authentication }: Pick<Services, 'authentication'>,
  { smallBytesMax, bytesMax }: LargeBodyOptions,
): onRequestHookHandler {
  const budget = new ByteBudget(HELD_BYTES_MAX)
  // With a callback, since an async hook would cost every call with a small body two promises.
  return (request, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const bytes = encoding === undefined ? Number(length ?? 0) : bytesMax
    // A longer one is refused without being read.
    if (bytes <= smallBytesMax || bytes > bytesMax) return done()
    authentication
      .authenticate(request.apiKey, originOf(request))
      .then(() => {
        reply.raw.once('close', budget.hold(bytes))
      })
      .then(() => done(), done)
  }
}
