import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Problem } from '#core/errors.ts'
import { sendProblem } from '../reply/problem.ts'
import { type Refusing, refuseConnection } from './client-error.ts'
import { closeSoon, isClosing } from './closing.ts'

/** How many connections beyond the bound get an answer at a time; further ones are closed without one. */
const REFUSED_MAX = 1_000
/** How long a connection beyond the bound may take to send its request before it is refused without one. */
const REFUSE_WITHIN_MS = 1_000
/** How long a client may read nothing of a response that is complete. */
const UNREAD_MS = 120_000

export interface ConnectionOptions extends Refusing {
  readonly connectionsMax: number
  readonly unreadMs?: number
  readonly observer: {
    /** Called when the bound is reached, and when there is room again. */
    full(isFull: boolean): void
  }
}

export interface Connections {
  /** The number of open connections within the bound. */
  readonly open: number
}

/**
 * Bounds the connections of a server, and how long a client that does not read or does not close can keep one. Must be
 * called before other hooks are added. {@link refuseBeyondBound} adds the hook that answers requests beyond the bound.
 */
export function boundConnections(
  app: FastifyInstance,
  { connectionsMax, unreadMs = UNREAD_MS, observer, ...refusing }: ConnectionOptions,
): Connections {
  let open = 0
  let isFull = false
  const setFull = (isNow: boolean) => {
    if (isNow !== isFull) observer.full(isNow)
    isFull = isNow
  }
  app.server.maxConnections = connectionsMax + REFUSED_MAX
  app.server.on('connection', (socket) => {
    // Node calls this after the last response. Its own version would reset a client that is still sending.
    socket.destroySoon = () => closeSoon(socket)
    if (open < connectionsMax) {
      open += 1
      socket.once('close', () => {
        open -= 1
        // Not as soon as one closes: near the bound, connections come and go, and each change would be reported.
        if (open < connectionsMax * 0.9) setFull(false)
      })
      return
    }
    setFull(true)
    refused.add(socket)
    const timer = setTimeout(() => {
      if (socket.bytesWritten > 0) return closeSoon(socket)
      refuseConnection(socket, tooMany(), refusing)
    }, REFUSE_WITHIN_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    // This connection was already refused, so pipelined requests behind that are not served.
    if (isClosing(socket)) return void reply.hijack()
    reply.raw.once('prefinish', () => {
      // Every byte that the client reads restarts this timeout; the server destroys the socket when it expires.
      if (socket.writableLength > 0) socket.setTimeout(unreadMs)
    })
    done()
  })
  return {
    get open() {
      return open
    },
  }
}

/** Beside the sockets, because they are Node's, and the requests that look here do not exist yet. */
const refused = new WeakSet<Socket>()

/** Refuses requests on connections beyond the bound. Must be added after the hooks whose headers the refusal should have. */
export function refuseBeyondBound(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!refused.has(request.raw.socket)) return done()
    reply.header('connection', 'close')
    sendProblem(tooMany(), request, reply)
  })
}

function tooMany(): Problem {
  return new Problem('unavailable', {
    detail: 'Too many connections are open.',
    limit: 'connections',
    retryAfterSeconds: 1,
  })
}
