import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '#core/base/errors/errors.ts'
import { CLIENT_HEADER, clientVersion } from './client-version.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The status in the log if the client left before the response was complete; nginx uses the same number. */
const CLIENT_GONE = 499

/**
 * Logs one line for each request from an allow-list of fields: no header but the version of an SDK, no query string and no body, so that no key, token,
 * password or chat text can reach the log. Routes are logged as patterns, unknown paths not at all.
 */
export function installRequestLog(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    // Not `onResponse`, which Fastify does not call for clients that leave.
    reply.raw.once('close', logRequest.bind(undefined, request, reply, metrics))
    done()
  })
}

function logRequest(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown'
  const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE
  const ms = reply.elapsedTime
  metrics.request(route, request.method, status, ms / 1000)
  const client = CLIENT_HEADER in request.headers ? clientVersion(request.headers) : undefined
  if (client !== undefined) metrics.sdkRequest(client)
  const { problem, refusedBy } = request
  if (problem !== undefined) metrics.refused(problem)
  request.log.info(
    {
      reqId: request.id,
      trace_id: request.trace?.traceId,
      method: request.method,
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      address: request.ip,
      client: client?.full,
      reason: problem?.reason,
      ...(problem?.limit !== undefined && limitOf(problem)),
      key: refusedBy?.keyId,
      owner: refusedBy?.ownerId,
      call: request.callId,
    },
    'request',
  )
}

/** If a problem is `unavailable`, its limit is the part of the installation that caused it, and is logged as `cause`. */
function limitOf({ reason, limit }: Problem): Readonly<Record<string, unknown>> {
  return reason === 'unavailable' ? { cause: limit } : { limit }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the call that was admitted for this request. */
    callId: string | undefined
  }
}
