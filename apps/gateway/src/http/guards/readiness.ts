import type { FastifyRequest } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'

/** Routes below these paths need the database. */
const STORED = ['/api/', '/graphql', '/files/', '/.well-known/']

/**
 * Refuses a request that needs the database before the start is complete. Until then, a database that has just become
 * reachable may lack its tables or the row of this process, so it must not be queried and no call may be counted. In the
 * moment between the listener and the end of the start requests wait: a proxy or a primary may have others to send them to, and
 * would not have chosen this process if nobody had listened.
 */
export function waitUntilPrepared(
  health: { readonly isPrepared: boolean; readonly completing: Promise<unknown> },
  request: FastifyRequest,
  done: (refusal?: Problem) => void,
): void {
  if (!needsDatabase(request)) return void done()
  const decide = () => done(health.isPrepared ? undefined : new Problem('unavailable', STARTING))
  health.completing.then(decide, decide)
}

const STARTING = { detail: 'The gateway is starting.', limit: 'starting', retryAfterSeconds: 1 } as const

function needsDatabase(request: FastifyRequest): boolean {
  const { url, config } = request.routeOptions
  if (url === undefined || !STORED.some((path) => url.startsWith(path))) return false
  return config.anonymousNeedsNoDatabase !== true || request.headers.authorization !== undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests without a credential are answered without a query to the database. */
    anonymousNeedsNoDatabase?: boolean
  }
}
