import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestTrace } from '#core/requests/request-trace.ts'
import { CLIENT_GONE, type RequestSpan, type Tracing } from './tracing.ts'

/** Only these: the files of the console, health and metrics would drown what is of interest. */
const IS_TRACED = /^\/(?:api\/|graphql)/

/** Begins a span for each request of the interfaces. It must be installed before what may refuse or log a request. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (IS_TRACED.test(request.url)) {
      const span = tracing.request({
        method: request.method,
        route: request.routeOptions.url,
        headers: request.headers,
        peer: request.socket.remoteAddress,
      })
      request.trace = span
      reply.raw.once('close', () => answered(span, request, reply))
    }
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined where the gateway does not trace. */
    trace: RequestTrace | undefined
  }
}

function answered(span: RequestSpan, { problem, callId }: FastifyRequest, { raw }: FastifyReply): void {
  span.answered({
    status: raw.headersSent ? raw.statusCode : undefined,
    error: raw.writableFinished ? problem?.reason : CLIENT_GONE,
    callId,
  })
}
