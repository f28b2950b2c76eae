import type { FastifyInstance, FastifyRequest } from 'fastify'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { fail } from '#core/errors.ts'
import { credentialId } from '#core/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { StreamTimes } from '#http/chat/event-stream.ts'
import { bearerOf, originOf } from '#http/guards/credentials.ts'
import { type OperationPlace, placeOf } from '../context.ts'
import type { Results } from './results.ts'
import { SharedStreams } from './shared-streams.ts'

export interface StreamRouteOptions extends StreamTimes {
  readonly services: Services
  /** Whether requests may reach different processes. */
  readonly hasWorkers: boolean
  /** Executes the operation of a request's body. */
  execute(body: unknown, place: OperationPlace): Promise<Results>
}

const URL = '/graphql/stream'

/** Serves the single connection mode of the GraphQL over SSE protocol. */
export function streamRoutes(
  app: FastifyInstance,
  { services, hasWorkers, execute, ...times }: StreamRouteOptions,
): void {
  const streams = new SharedStreams(times)
  app.addHook('preClose', (done) => {
    streams.close()
    done()
  })
  const onRequest = async () => {
    if (hasWorkers) fail('route_not_found', WORKERS)
  }
  const schema = { hide: true }

  app.put(URL, { schema, onRequest }, async (request, reply) => {
    const caller = await services.authentication.authenticate(bearerOf(request), originOf(request))
    return reply
      .status(201)
      .type('text/plain; charset=utf-8')
      .send(streams.reserve(credentialId(caller)))
  })

  app.get(URL, { schema, onRequest, exposeHeadRoute: false }, async (request, reply) => {
    if (!/\btext\/event-stream\b/i.test(request.headers.accept ?? '')) fail('not_acceptable', ACCEPT)
    streams.open(tokenOf(request), reply)
    return reply
  })

  app.post(URL, { schema, onRequest }, async (request, reply) => {
    const stream = streams.find(tokenOf(request))
    const body = (request.body ?? {}) as { extensions?: { operationId?: unknown } | null }
    const place = (signal: AbortSignal) => placeOf(request, { reply, signal, canStream: true })
    const running = markRejectionHandled(
      stream.run(body.extensions?.operationId, (signal) => execute(body, place(signal))),
    )
    request.trace?.holdUntil(running)
    running.catch((err: unknown) =>
      request.log.error(
        { reqId: request.id, trace_id: request.trace?.traceId, err },
        'an operation broke off',
      ),
    )
    return reply.status(202).send()
  })

  app.delete(URL, { schema, onRequest }, async (request, reply) => {
    streams.find(tokenOf(request)).leave(queryOf(request).operationId)
    return reply.status(200).send()
  })
}

const ACCEPT = 'accept: expected text/event-stream.'
const WORKERS =
  'The single connection mode needs one process, and this gateway has several (WORKERS). Use distinct connections on /graphql.'

function tokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-graphql-event-stream-token']
  return typeof header === 'string' ? header : queryOf(request).token
}

function queryOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return request.query as Record<string, string | undefined>
}
