import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The most requests of one connection that are served at a time. */
const OPEN_MAX = 8

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/**
 * Bounds the requests of one connection that are served at a time. A client may send any number without waiting for a response, and
 * Node serves all that it reads at once: some thousands fit into the 64 KiB of one read, before `pause()` has an effect. Here each
 * read is handed to Node's parser in pieces that end with the heads of as many requests as may be open, and the rest waits. Must be
 * called before other hooks are added.
 */
export function boundPipelining(app: FastifyInstance): void {
  const pipelines = new WeakMap<Socket, Pipeline>()
  app.server.on('connection', (socket) => {
    if (socket.listenerCount('data') > 0) pipelines.set(socket, new Pipeline(socket))
  })
  // Not a hook, because requests with a URL that is not valid reach none.
  app.server.prependListener('request', ({ socket }, response) => {
    const pipeline = pipelines.get(socket)
    pipeline?.opened()
    if (pipeline !== undefined) response.once('finish', () => pipeline.closed())
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const pipeline = pipelines.get(request.raw.socket)
    if (pipeline === undefined) done()
    else pipeline.enter(done)
  })
}

class Pipeline {
  readonly #socket: Socket
  /** Node's own listeners, which hand what is read to the parser. */
  readonly #parse: ReturnType<Socket['listeners']>
  /** The requests whose response is not complete. */
  #open = 0
  /** Those that may not be served yet: one, which shows that there is another, and rarely a few. */
  readonly #waiting: (() => void)[] = []
  #isPaused = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#parse = socket.listeners('data')
    socket.removeAllListeners('data')
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  opened(): void {
    this.#open += 1
  }

  /** Has a request served when its turn has come. */
  enter(serve: () => void): void {
    if (this.#open <= OPEN_MAX) serve()
    else this.#waiting.push(serve)
  }

  closed(): void {
    this.#open -= 1
    this.#waiting.shift()?.()
    if (!this.#isPaused || this.#open > OPEN_MAX) return
    this.#isPaused = false
    // Other connections are served between the requests of this one.
    setImmediate(() => this.#socket.resume())
  }

  #read(chunk: Buffer): void {
    const socket = this.#socket
    let rest = chunk
    while (rest.length > 0 && !socket.destroyed) {
      if (this.#open > OPEN_MAX) {
        this.#isPaused = true
        socket.pause()
      }
      // Node pauses as well, for a body or a response that nobody reads.
      if (socket.isPaused()) {
        socket.unshift(rest)
        return
      }
      const end = endOfHeads(rest, OPEN_MAX + 1 - this.#open)
      const piece = rest.subarray(0, end)
      rest = rest.subarray(end)
      for (const parse of this.#parse) parse.call(socket, piece)
    }
  }
}

/** Where this many heads of requests end at the latest. A body may hold the same bytes, which does no harm. */
function endOfHeads(chunk: Buffer, count: number): number {
  let end = 0
  for (let head = 0; head < count; head += 1) {
    const found = chunk.indexOf(END_OF_HEAD, end)
    if (found === -1) return chunk.length
    end = found + END_OF_HEAD.length
  }
  return end
}
