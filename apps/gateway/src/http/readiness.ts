import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '#core/errors.ts'

/** What lies below these is answered from the database. */
const STORED = ['/api/', '/graphql', '/files/', '/.well-known/']

/**
 * While the start is not complete, a database that has just come back may lack its tables, and this process its row in it:
 * nothing is asked of it, and no call is counted.
 */
export function refuseUntilPrepared(app: FastifyInstance, health: { isPrepared(): boolean }): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!health.isPrepared() && needsDatabase(request)) {
      throw new Problem('unavailable', { detail: 'The gateway is starting.', retryAfterSeconds: 1 })
    }
    done()
  })
}

function needsDatabase(request: FastifyRequest): boolean {
  const { url, config } = request.routeOptions
  if (url === undefined || !STORED.some((path) => url.startsWith(path))) return false
  return config.anonymousNeedsNoDatabase !== true || request.headers.authorization !== undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests without a credential are answered without asking the database. */
    anonymousNeedsNoDatabase?: boolean
  }
}
