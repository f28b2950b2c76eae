import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answerClientError, type Refusing } from './client-error.ts'
import { hasBody } from './connections.ts'
import { announcedLength, SMALL_BODY_BYTES } from './large-bodies.ts'

export interface BodyTimeOptions extends Refusing {
  /** How long a small body may take to arrive, and any body of a caller that is not known. */
  readonly smallWithinMs: number
  /** How long a large body of a known caller may take. */
  readonly largeWithinMs: number
}

/** How often the requests are checked within the shorter time. */
const CHECKS_WITHIN = 12

/**
 * Limits the time in which the body of a request must arrive, also where the request has been refused and the rest of it is
 * only discarded. Node has such a limit for all requests of a server together, but a large body may take longer than a small one,
 * and an upload longer still: a route with `limitsBodyTime: false` has limits of its own.
 */
export function limitBodyTime(
  app: FastifyInstance,
  { smallWithinMs, largeWithinMs, ...refusing }: BodyTimeOptions,
): void {
  const arriving = new Map<FastifyRequest, number>()

  app.addHook('onRequest', (request, _reply, done) => {
    const isLimited = request.routeOptions.config.limitsBodyTime !== false
    if (isLimited && hasBody(request.raw)) arriving.set(request, performance.now())
    done()
  })
  // The body has been parsed. Refused requests do not get here; the check removes them.
  app.addHook('preValidation', (request, _reply, done) => {
    arriving.delete(request)
    done()
  })

  function check(): void {
    const nowMs = performance.now()
    for (const [request, startedMs] of arriving) {
      const { raw } = request
      if (raw.complete || raw.destroyed) arriving.delete(request)
      else if (nowMs - startedMs >= withinMs(request)) {
        arriving.delete(request)
        answerClientError(Object.assign(new Error('the body is slow'), TOO_SLOW), raw.socket, refusing)
      }
    }
  }

  function withinMs(request: FastifyRequest): number {
    const mayBeLarge = request.principal !== undefined && announcedLength(request) > SMALL_BODY_BYTES
    return mayBeLarge ? largeWithinMs : smallWithinMs
  }

  const timer = setInterval(check, smallWithinMs / CHECKS_WITHIN).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** The code of Node's own limit, so that both are answered in the same words. */
const TOO_SLOW = { code: 'ERR_HTTP_REQUEST_TIMEOUT' }

declare module 'fastify' {
  interface FastifyContextConfig {
    limitsBodyTime?: boolean
  }
}
