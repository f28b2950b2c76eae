import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Problem } from '#core/errors/errors.ts'
import { sendProblem } from '../response/problem.ts'
import { type Refusing, refuseConnection } from './client-error.ts'
import { closeSoon, isClosing } from './closing.ts'
import { type HeldSocket, IdleSockets } from './idle-sockets.ts'

/** How many connections beyond the bound get an answer at a time. */
const REFUSED_MAX = 1_000
/** How long a connection beyond the bound may take to send its request before it is refused without one. */
const REFUSE_WITHIN_MS = 1_000
/** A client that has been idle for less may have a request on its way, and would see it fail. */
const IDLE_MS_MIN = 1_000
/** How long a client may read nothing of a response that is complete. */
const UNREAD_MS = 120_000

export interface ConnectionOptions extends Refusing {
  readonly connectionsMax: number
  readonly elapsedMs: () => number
  /** Whether an address is that of a proxy, whose connections belong to many clients. */
  readonly isProxy?: (address: string) => boolean
  readonly unreadMs?: number
  readonly refusedMax?: number
  readonly observer: {
    /** Called when the bound is reached, and when there is room again. */
    full(isFull: boolean): void
    /** Called when an idle connection is closed to make room for another. */
    closedIdle(): void
  }
}

export interface Connections {
  /** The number of open connections within the bound. */
  readonly open: number
}

/**
 * Bounds the connections of a server, and how long a client that does not read or does not close can keep one. At the bound a
 * new connection takes the place of one that is idle, so that idle connections cannot keep other clients out. Must be
 * called before other hooks are added. {@link refuseBeyondBound} adds the hook that answers requests beyond the bound.
 */
export function boundConnections(
  app: FastifyInstance,
  {
    connectionsMax,
    elapsedMs,
    isProxy = () => false,
    unreadMs = UNREAD_MS,
    refusedMax = REFUSED_MAX,
    observer,
    ...refusing
  }: ConnectionOptions,
): Connections {
  const within = new IdleSockets<Socket>({ elapsedMs, isProxy, idleMsMin: IDLE_MS_MIN })
  const beyond = new IdleSockets<Socket>({ elapsedMs, isProxy, idleMsMin: 0 })
  let isFull = false
  const setFull = (isNow: boolean) => {
    if (isNow !== isFull) observer.full(isNow)
    isFull = isNow
  }

  /** Closes the connection that others can best do without, if there is one. */
  function makeRoom(sockets: IdleSockets<Socket>): boolean {
    const next = sockets.next()
    if (next === undefined) return false
    // Its place is free at once, and not when its end is reported.
    next.remove()
    next.socket.destroy()
    return true
  }

  function hold(sockets: IdleSockets<Socket>, socket: Socket): HeldSocket<Socket> {
    const entry = sockets.add(socket, socket.remoteAddress ?? '')
    held.set(socket, entry)
    socket.once('close', () => {
      entry.remove()
      // Not as soon as one closes: near the bound, connections come and go, and each change would be reported.
      if (within.size < connectionsMax * 0.9) setFull(false)
    })
    return entry
  }

  function refuseSoon(entry: HeldSocket<Socket>): void {
    const { socket } = entry
    refused.add(socket)
    const timer = setTimeout(() => {
      // A request that is served beyond the bound ends the connection by itself.
      if (!entry.isIdle) return
      if (socket.bytesWritten > 0) return closeSoon(socket)
      refuseConnection(socket, tooMany(), refusing)
    }, REFUSE_WITHIN_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  app.server.on('connection', (socket) => {
    // Node calls this after the last response. Its own version would reset a client that is still sending.
    socket.destroySoon = () => closeSoon(socket)
    if (within.size >= connectionsMax) {
      setFull(true)
      if (makeRoom(within)) observer.closedIdle()
    }
    if (within.size < connectionsMax) hold(within, socket)
    else if (beyond.size < refusedMax || makeRoom(beyond)) refuseSoon(hold(beyond, socket))
    else socket.destroy()
  })
  // Not a hook, because requests with a URL that is not valid reach none.
  app.server.prependListener('request', (request, response) => {
    if (hasBody(request)) held.get(request.socket)?.arrive()
    else countAsBusy(request, response)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.principal !== undefined) countAsBusy(request.raw, reply.raw)
    done(null, payload)
  })
  // The body has arrived.
  app.addHook('preValidation', (request, reply, done) => {
    countAsBusy(request.raw, reply.raw)
    done()
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
      return within.size
    },
  }
}

/** In a map, because the sockets are Node's own, as are the requests that look up their socket here. */
const held = new WeakMap<Socket, HeldSocket<Socket>>()
/** In a set, because the requests are Node's own. */
const busy = new WeakSet<IncomingMessage>()

/**
 * Counts the connection of a request as busy until the response is complete. A connection that waits for the bytes of a body is
 * idle, since a client may send as few of them as it likes, until the body has arrived or its caller is known.
 */
export function countAsBusy(request: IncomingMessage, response: ServerResponse): void {
  const entry = held.get(request.socket)
  if (entry === undefined || busy.has(request) || response.writableFinished) return
  busy.add(request)
  entry.begin()
  response.once('finish', () => entry.end())
}

/** Whether a body must still arrive. A request that is injected without a connection has come as a whole. */
export function hasBody({ headers, socket }: IncomingMessage): boolean {
  if (!(socket instanceof Socket)) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** In a set, because the sockets are Node's own, and the requests that look them up do not exist yet. */
const refused = new WeakSet<Socket>()

/**
 * Refuses requests on connections beyond the bound, except those of routes that are always answered. Must be added after the
 * hooks whose headers the refusal should have.
 */
export function refuseBeyondBound(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!refused.has(request.raw.socket)) return done()
    reply.header('connection', 'close')
    if (request.routeOptions.config.isAlwaysAnswered === true) return done()
    sendProblem(tooMany(), request, reply)
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests are answered even on connections beyond the bound. */
    isAlwaysAnswered?: boolean
  }
}

function tooMany(): Problem {
  return new Problem('unavailable', {
    detail: 'Too many connections are open.',
    limit: 'connections',
    retryAfterSeconds: 1,
  })
}
