import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { answerClientError, type Refusing } from './client-error.ts'

export interface BodyTimeOptions extends Refusing {
  /** How long a body may take to arrive. */
  readonly withinMs: number
}

/** How often the requests are checked within that time. */
const CHECKS_WITHIN = 12

/**
 * Limits the time in which the body of a request must arrive, also where the request has been refused and the rest of it is
 * only discarded. Node has such a limit for all requests of a server together, but an upload may take much longer than any
 * other request: a route with `limitsBodyTime: false` has limits of its own.
 */
export function limitBodyTime(app: FastifyInstance, { withinMs, ...refusing }: BodyTimeOptions): void {
  const arriving = new Map<IncomingMessage, number>()

  app.addHook('onRequest', (request, _reply, done) => {
    const { raw, routeOptions } = request
    if (hasBody(raw) && routeOptions.config.limitsBodyTime !== false) arriving.set(raw, performance.now())
    done()
  })
  // The body has been parsed. Refused requests do not get here; the check removes them.
  app.addHook('preValidation', (request, _reply, done) => {
    arriving.delete(request.raw)
    done()
  })

  function check(): void {
    const startedBefore = performance.now() - withinMs
    for (const [raw, startedMs] of arriving) {
      if (raw.complete || raw.destroyed) arriving.delete(raw)
      else if (startedMs <= startedBefore) {
        arriving.delete(raw)
        answerClientError(Object.assign(new Error('the body is slow'), TOO_SLOW), raw.socket, refusing)
      }
    }
  }

  const timer = setInterval(check, withinMs / CHECKS_WITHIN).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** The code of Node's own limit, so that both are answered in the same words. */
const TOO_SLOW = { code: 'ERR_HTTP_REQUEST_TIMEOUT' }

/** Whether a body must still arrive. A request that is injected without a connection has come as a whole. */
function hasBody({ headers, socket }: IncomingMessage): boolean {
  if (!(socket instanceof Socket)) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limitsBodyTime?: boolean
  }
}
