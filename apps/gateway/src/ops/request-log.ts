import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

/**
 * One line a request, from an allow-list of fields: no header, no query string, no body, so that no key, token, password
 * or chat text can reach a log. Routes are logged as patterns, unknown paths not at all.
 */
export function installRequestLog(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    const status = reply.raw.statusCode
    const ms = reply.elapsedTime
    metrics.request(route, request.method, status, ms / 1000)
    if (request.problem !== undefined) metrics.refused(request.problem.reason)
    request.log.info(
      {
        method: request.method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        address: request.ip,
        ...(request.problem !== undefined && { reason: request.problem.reason }),
        ...(request.callId !== undefined && { call: request.callId }),
      },
      'request',
    )
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The admitted call that this request became. */
    callId: string | undefined
  }
}
