import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from './metrics.ts'

/** No status was sent, or its body not to the end: the client left before. The number is nginx's. */
const CLIENT_GONE = 499

/**
 * One line a request, from an allow-list of fields: no header, no query string, no body, so that no key, token, password
 * or chat text can reach a log. Routes are logged as patterns, unknown paths not at all.
 */
export function installRequestLog(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    // Not `onResponse`, which does not hear of clients that leave.
    reply.raw.once('close', () => logRequest(request, reply, metrics))
    done()
  })
}

function logRequest(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown'
  const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE
  const ms = reply.elapsedTime
  metrics.request(route, request.method, status, ms / 1000)
  if (request.problem !== undefined) metrics.refused(request.problem.reason)
  request.log.info(
    {
      reqId: request.id,
      method: request.method,
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      address: request.ip,
      reason: request.problem?.reason,
      call: request.callId,
    },
    'request',
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The admitted call that this request became. */
    callId: string | undefined
  }
}
