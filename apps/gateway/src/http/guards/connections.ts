import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { sendProblem } from '../response/problem.ts'
import { answerClientError, closeSoon, type Refusing, refuseConnection, TOO_SLOW } from './client-error.ts'
import { announcedLength, SMALL_BODY_BYTES } from './large-bodies.ts'

/** A client that has been idle for less may have a request on its way, and would see it fail. */
const IDLE_MS_MIN = 1_000
/** How many connections beyond the bound get an answer at a time. */
const BEYOND_MAX = 1_000
/** How long a connection beyond the bound may take to send its request before it is refused without one. */
const BEYOND_MS = 1_000
/** How long a body may take to arrive: a large one of a caller that is known, and any other. */
const BODY_MS = { large: 60_000, other: 10_000 }
/** The most requests of one connection that are served at a time. */
const OPEN_MAX = 8
/** What may wait in a process for clients to read it. A caller may ask for many replies of some megabytes, and read none. */
const WAITING_BYTES_MAX = 512 * 1024 * 1024
/** In place of an address. */
const PROXIES = 'proxies'
const END_OF_HEAD = Buffer.from('\r\n\r\n')

export interface ConnectionOptions extends Refusing {
  readonly connectionsMax: number
  /** How long a client may take nothing of what waits for it. */
  readonly stalledMs: number
  readonly elapsedMs: () => number
  /** Whether an address is that of a proxy, whose connections belong to many clients. */
  readonly isProxy: (address: string) => boolean
  /** Called when the bound is reached, and when there is room again. */
  full(isFull: boolean): void
  /** Called when an idle connection is closed to make room for another. */
  closedIdle(): void
  readonly beyondMax?: number
  readonly waitingBytesMax?: number
  /** How often all connections are looked at. */
  readonly everyMs?: number
}

/**
 * Bounds the connections of a server, and what one of them can hold. At the bound a new connection takes the place of one that is
 * idle, so that idle ones cannot keep other clients out. A client that does not send its body, or does not read its response, is
 * disconnected. The server calls `refuse` for each request in a hook behind those whose headers the refusal should have.
 */
export function guardConnections(app: FastifyInstance, options: ConnectionOptions) {
  const { connectionsMax, stalledMs, elapsedMs, isProxy, everyMs = 1_000, beyondMax = BEYOND_MAX } = options
  const within = new Places()
  const beyond = new Places()
  let wasFull = false

  app.server.on('connection', (socket) => {
    // Node calls this after the last response. Its own version would reset a client that is still sending.
    socket.destroySoon = () => closeSoon(socket)
    const nowMs = elapsedMs()
    if (within.all.size >= connectionsMax && within.closeIdle(nowMs - IDLE_MS_MIN)) options.closedIdle()
    const places = within.all.size < connectionsMax ? within : beyond
    if (places === beyond && beyond.all.size >= beyondMax && !beyond.closeIdle(nowMs)) {
      return void socket.destroy()
    }
    const address = socket.remoteAddress ?? ''
    const network = isProxy(address) ? PROXIES : networkOf(address)
    connections.set(socket, new Connection(socket, network, places, elapsedMs))
  })
  // Not a hook, because requests with a URL that is not valid reach none.
  app.server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.begin(request, response)
  })
  // Node restarts the time when the system has taken bytes, and not with what is written behind bytes that wait.
  app.server.setTimeout(stalledMs, (socket) => {
    if (socket.writableLength > 0 || connections.get(socket)?.responses.length === 0) socket.destroy()
  })

  function look(): void {
    const all = [...within.all, ...beyond.all]
    let excess = all.reduce(
      (sum, { socket }) => sum + socket.writableLength,
      -(options.waitingBytesMax ?? WAITING_BYTES_MAX),
    )
    if (excess > 0) all.sort((one, other) => other.socket.writableLength - one.socket.writableLength)
    for (const connection of all) {
      const { socket, isIdle, idleSinceMs } = connection
      // Where more waits than a process may hold, those that hold the most of it must read at once.
      const [before, after] = excess > 0 ? [stalledMs, everyMs] : [everyMs, stalledMs]
      if (socket.timeout === before) socket.setTimeout(after)
      excess -= socket.writableLength
      if (connection.isLate()) answerClientError(TOO_SLOW, socket, options)
      else if (!isIdle) connection.update()
      else if (beyond.all.has(connection) && elapsedMs() - idleSinceMs >= BEYOND_MS)
        refuseConnection(socket, tooMany(), options)
    }
    const isFull = within.all.size >= connectionsMax * (wasFull ? 0.9 : 1)
    if (isFull !== wasFull) options.full(isFull)
    wasFull = isFull
  }
  const timer = setInterval(look, everyMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  return {
    /** The number of open connections within the bound. */
    get open(): number {
      return within.all.size
    },
    /** The responses that have not ended yet. */
    responses(): ServerResponse[] {
      return [...within.all, ...beyond.all].flatMap(({ responses }) => responses)
    },
    /** Answers a request that came on a connection beyond the bound; returns whether it has. */
    refuse(request: FastifyRequest, reply: FastifyReply): boolean {
      const connection = connections.get(request.raw.socket)
      if (connection === undefined) return false
      connection.newest = request
      if (!beyond.all.has(connection)) return false
      reply.header('connection', 'close')
      if (request.routeOptions.config.isAlwaysAnswered === true) return false
      sendProblem(tooMany(), request, reply)
      return true
    },
  }
}

function tooMany(): Problem {
  return new Problem('unavailable', {
    detail: 'Too many connections are open.',
    limit: 'connections',
    retryAfterSeconds: 1,
  })
}

/** Beside the sockets, because those are Node's own. */
const connections = new WeakMap<Socket, Connection>()

/** The connections within a bound, and the idle ones among them by network, those that have been idle longest first. */
class Places {
  readonly all = new Set<Connection>()
  readonly idle = new Map<string, Set<Connection>>()

  /** Closes the connection that others can best do without, if it has been idle since then; returns whether it has. */
  closeIdle(sinceMs: number): boolean {
    const next = this.#longestIdle()
    // The caller of its request may have become known since the last look.
    if (next?.isIdle !== true || next.idleSinceMs > sinceMs) return false
    next.socket.destroy()
    // Its place is free at once, and not when its end is reported.
    next.leave()
    return true
  }

  /**
   * The longest idle connection of the network that has most idle ones, so that a network with many that work, such as a balancer, is
   * not the one that is cut. What comes through proxies may be of as many clients as there are connections, so each of these counts as
   * a network of its own. Of other networks none is looked at: one with few must not lose them to one whose are always new.
   */
  #longestIdle(): Connection | undefined {
    let found: Connection | undefined
    let most = 0
    for (const [network, idle] of this.idle) {
      const size = network === PROXIES ? 1 : idle.size
      const [longest] = idle
      if (longest === undefined || size < most) continue
      if (found === undefined || size > most || longest.idleSinceMs < found.idleSinceMs) found = longest
      most = size
    }
    return found
  }
}

/** An open connection, of which a few requests are served at a time. */
class Connection {
  readonly socket: Socket
  idleSinceMs = 0
  /** Those that are not complete, which are sent in the order of their requests. */
  readonly responses: ServerResponse[] = []
  /** The newest request, if no hook has refused it. Only looked at as long as its body is arriving. */
  newest: FastifyRequest | undefined
  readonly #network: string
  readonly #places: Places
  readonly #elapsedMs: () => number
  /** The newest request, as long as its body may still be arriving. */
  #arriving: IncomingMessage | undefined
  #arrivingSinceMs = 0
  /** Whether it is among the idle ones of its places. */
  #isListed = false
  /** Node's own listeners, which hand what is read to its parser. */
  readonly #parse: ReturnType<Socket['listeners']>
  /** Whether it has been paused here. */
  #isPaused = false

  constructor(socket: Socket, network: string, places: Places, elapsedMs: () => number) {
    this.socket = socket
    this.#network = network
    this.#places = places
    this.#elapsedMs = elapsedMs
    this.#parse = socket.listeners('data')
    socket.removeAllListeners('data')
    socket.on('data', this.#read).once('close', this.leave)
    places.all.add(this)
    this.update()
  }

  /** Whether it waits for a request, or for the body of one whose caller is not known: a client may send as little of it as it likes. */
  get isIdle(): boolean {
    const { length } = this.responses
    return (
      length === 0 ||
      (length === 1 && this.#arriving?.complete === false && this.newest?.principal === undefined)
    )
  }

  /** Puts it behind the other idle ones of its network, or takes it away from them. */
  update(): void {
    const { idle } = this.#places
    const others = idle.get(this.#network) ?? new Set()
    others.delete(this)
    if (this.#arriving?.complete !== false) {
      this.#arriving = undefined
      // It may hold a large body.
      this.newest = undefined
    }
    this.#isListed = this.isIdle && !this.socket.destroyed
    if (this.#isListed) {
      this.idleSinceMs = this.#elapsedMs()
      idle.set(this.#network, others.add(this))
    } else if (others.size === 0) idle.delete(this.#network)
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.responses.push(response)
    this.#arriving = undefined
    this.update()
    this.#arriving = request
    this.#arrivingSinceMs = this.#elapsedMs()
    response.once('finish', this.#end)
  }

  /** Whether a body should have arrived, also where its request has been refused and the rest is only discarded. */
  isLate(): boolean {
    if (this.#arriving?.complete !== false) return false
    const { newest } = this
    if (newest?.routeOptions.config.limitsBodyTime === false) return false
    const isLarge = newest?.principal !== undefined && announcedLength(newest) > SMALL_BODY_BYTES
    return this.#elapsedMs() - this.#arrivingSinceMs >= (isLarge ? BODY_MS.large : BODY_MS.other)
  }

  readonly leave = (): void => {
    this.#places.all.delete(this)
    this.update()
  }

  readonly #end = (): void => {
    this.responses.shift()
    this.update()
    // Other connections are served between the requests of this one.
    if (this.#isPaused) setImmediate(() => this.#isPaused && this.socket.resume())
  }

  /**
   * Hands what has been read to Node's parser in pieces that end with the heads of as many requests as may be open. One read may hold
   * some thousands, all of which Node would begin to serve before `pause()` has an effect.
   */
  readonly #read = (chunk: Buffer): void => {
    const { socket } = this
    let rest = chunk
    this.#isPaused = false
    // What a client has sent behind the request with which its connection ends is not served.
    while (rest.length > 0 && !socket.destroyed && !socket.writableEnded) {
      // Node has paused it, for responses that nobody reads. Only Node may resume it, whose parser would throw otherwise.
      if (socket.isPaused()) return void socket.unshift(rest)
      const room = OPEN_MAX - this.responses.length
      if (room <= 0 && this.#arriving?.complete !== false) {
        this.#isPaused = true
        return void socket.pause().unshift(rest)
      }
      const end = endOfHeads(rest, room)
      const piece = rest.subarray(0, end)
      rest = rest.subarray(end)
      for (const parse of this.#parse) parse.call(socket, piece)
    }
    // A body has begun and goes on, or has ended.
    if (this.isIdle !== this.#isListed) this.update()
  }
}

/** Where this many heads of requests end, or one. A body may hold the same bytes, which does no harm. */
function endOfHeads(chunk: Buffer, count: number): number {
  let end = 0
  for (let head = 0; head < Math.max(1, count); head += 1) {
    const found = chunk.indexOf(END_OF_HEAD, end)
    if (found === -1) return chunk.length
    end = found + END_OF_HEAD.length
  }
  return end
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests are answered even on connections beyond the bound. */
    isAlwaysAnswered?: boolean
    /** Whether the server limits how long a body takes to arrive; false where the route has limits of its own. */
    limitsBodyTime?: boolean
  }
}
