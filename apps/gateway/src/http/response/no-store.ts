import type { FastifyInstance, onRequestHookHandler } from 'fastify'

/**
 * Forbids caches to keep the response: it was made for one credential and is true only now. Set before anything else is
 * decided, so that it holds for whatever the response will be; a handler may set another policy.
 */
export const noStore: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/** Applies {@link noStore} to all routes of a context. */
export function forbidStoring(app: FastifyInstance): void {
  app.addHook('onRequest', noStore)
}
