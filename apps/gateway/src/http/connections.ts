import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Problem } from '#core/errors.ts'
import { refuseConnection } from './client-error.ts'
import { closeSoon, isClosing } from './closing.ts'
import { sendProblem } from './problem.ts'

/** Connections beyond the bound that are being refused at a time; what comes on top is closed without an answer. */
const REFUSED_MAX = 1_000
/** A connection beyond the bound that brings no request until then is refused without one. */
const REFUSE_WITHIN_MS = 1_000
/** How long a client may take nothing of a response that is complete. */
const UNREAD_MS = 120_000

export interface ConnectionOptions {
  readonly connectionsMax: number
  readonly newId: () => string
  readonly unreadMs?: number
  readonly observer: {
    /** The bound is reached, or there is room again. */
    full(isFull: boolean): void
    /** A connection was refused that brought no request. */
    refused(): void
  }
}

export interface Connections {
  /** Those within the bound. */
  readonly open: number
}

/**
 * Bounds the connections of a server, and what a client that does not read, or does not close, can hold of it. To be called
 * before other hooks are added; {@link refuseBeyondBound} is the hook that answers.
 */
export function boundConnections(
  app: FastifyInstance,
  { connectionsMax, newId, unreadMs = UNREAD_MS, observer }: ConnectionOptions,
): Connections {
  let open = 0
  let isFull = false
  const setFull = (isNow: boolean) => {
    if (isNow !== isFull) observer.full(isNow)
    isFull = isNow
  }
  app.server.maxConnections = connectionsMax + REFUSED_MAX
  app.server.on('connection', (socket) => {
    // What Node calls after the last response; it would reset a client that is still sending.
    socket.destroySoon = () => closeSoon(socket)
    if (open < connectionsMax) {
      open += 1
      socket.once('close', () => {
        open -= 1
        // Not at the first that closes: at the bound, connections come and go.
        if (open < connectionsMax * 0.9) setFull(false)
      })
      return
    }
    setFull(true)
    refused.add(socket)
    const timer = setTimeout(() => {
      if (socket.bytesWritten > 0) return closeSoon(socket)
      observer.refused()
      refuseConnection(socket, tooMany(), newId())
    }, REFUSE_WITHIN_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    // Its answer has been given; nothing that comes behind is a request any more.
    if (isClosing(socket)) return void reply.hijack()
    reply.raw.once('prefinish', () => {
      // Every byte that is taken starts the time anew; the server ends the socket when it has run out.
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

const refused = new WeakSet<Socket>()

/** After the hooks whose headers the refusal should have. */
export function refuseBeyondBound(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!refused.has(request.raw.socket)) return done()
    reply.header('connection', 'close')
    sendProblem(tooMany(), request, reply)
  })
}

function tooMany(): Problem {
  return new Problem('unavailable', { detail: 'Too many connections are open.', retryAfterSeconds: 1 })
}
