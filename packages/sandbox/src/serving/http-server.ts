import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, plainText, Refusal } from './answer.ts'
import { asRecord, type JsonRecord } from './narrow.ts'
import { failRequest, type Outage, type Rejections, type SandboxControl } from './outage.ts'
import { readForm } from './read-form.ts'
import type { SeenLog } from './seen.ts'

/** A parsed request with its response. */
export interface RequestContext {
  readonly method: string
  readonly path: string
  /** The `:name` segments of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: JsonRecord
  readonly response: ServerResponse
}

/** Returns a complete answer, or writes the response itself. */
type Handler = (context: RequestContext) => Answer | Promise<void> | Promise<Answer | undefined>

export interface Routes {
  readonly [route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`]: Handler
}

export interface HttpServer {
  readonly origin: string
  readonly control: SandboxControl
  close(): Promise<void>
}

export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  readonly routes: Routes
  readonly notFound: Answer
  readonly seen: SeenLog
  readonly rejections: Rejections
}

// Larger than the base64 form of any file that the gateway accepts by default.
const JSON_BYTES_MAX = 128 * 1024 * 1024

// The log keeps many requests, so that it holds no file of a larger body.
const LOGGED_BYTES_MAX = 1024 * 1024

/** Starts the HTTP server of one emulator. Its `close` does not wait for open streams. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, notFound, seen } = options
  const find = router(options.routes)
  let outage: Outage | undefined
  const idle = new IdleConnections()
  const server = createServer(async (request, response) => {
    idle.occupy(request.socket, response)
    try {
      const url = new URL(request.url ?? '/', 'http://sandbox')
      const { method = 'GET', headers } = request
      const { body, size } = await readBody(request)
      seen.request({
        method,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers,
        body: size > LOGGED_BYTES_MAX ? asRecord(withoutData(body)) : body,
      })
      if (outage !== undefined) {
        const failure = failRequest(outage, url.pathname, response, options.rejections)
        return failure && send(response, failure)
      }
      const route = find(method, url.pathname)
      if (!route) return send(response, notFound)
      const { handler, params } = route
      const query = url.searchParams
      const answer = await handler({ method, path: url.pathname, params, query, headers, body, response })
      if (answer) send(response, answer)
    } catch (error) {
      if (error instanceof Refusal) return send(response, error.answer)
      if (request.errored) return
      console.error(error)
      response.destroy()
    }
  })
  server.on('connection', (socket) => idle.add(socket))
  // Longer than client pools usually keep a socket, so that a client never reuses one that is just being
  // closed.
  server.keepAliveTimeout = 65_000
  await listen(server, port, host)
  const address = server.address() as AddressInfo

  // One change after the other, so that the port is opened and closed in the order of the calls.
  let changed: Promise<void> = Promise.resolve()
  const change = (next: Outage | undefined) => {
    changed = changed
      .catch(() => undefined)
      .then(async () => {
        outage = next
        if (next === 'refuse') {
          await idle.end()
          server.close()
        } else if (!server.listening) {
          await listen(server, address.port, host)
        }
      })
    return changed
  }
  return {
    origin: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    control: {
      get outage() {
        return outage
      },
      fail: (next) => change(next),
      recover: () => change(undefined),
    },
    async close() {
      await changed.catch(() => undefined)
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

// Longer than a client on this machine needs to close a connection.
const IDLE_MS = 1_000

/** The connections that clients keep for their next requests. */
class IdleConnections {
  readonly #sockets = new Set<Socket>()

  add(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Until its response has ended, the connection of a request is not idle. */
  occupy(socket: Socket, response: ServerResponse): void {
    this.#sockets.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) this.#sockets.add(socket)
    })
  }

  /**
   * Ends them, and waits until their clients have ended them as well. A client that has not yet seen that its connection is
   * closed would send it one more request, and would not be refused but cut off.
   */
  async end(): Promise<void> {
    const ended = [...this.#sockets].map((socket) => {
      socket.end()
      return once(socket, 'close')
    })
    await Promise.race([Promise.allSettled(ended), sleep(IDLE_MS, undefined, { ref: false })])
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, headers).end(body)
}

/** Finds routes without parameters by a single map lookup, because they are the ones under load. */
function router(routes: Routes) {
  const exact = new Map<string, Handler>()
  const patterns: { pattern: RegExp; handler: Handler }[] = []
  for (const [route, handler] of Object.entries(routes)) {
    if (!route.includes('/:')) exact.set(route, handler)
    // Linear time: a parameter ends at a slash.
    else patterns.push({ pattern: new RegExp(`^${route.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`), handler })
  }
  return (method: string, path: string) => {
    const route = `${method} ${path}`
    const handler = exact.get(route)
    if (handler) return { handler, params: {} }
    for (const { pattern, handler } of patterns) {
      const match = pattern.exec(route)
      if (match) return { handler, params: { ...match.groups } }
    }
    return undefined
  }
}

async function readBody(request: IncomingMessage): Promise<{ body: JsonRecord; size: number }> {
  const contentType = request.headers['content-type'] ?? ''
  if (contentType.startsWith('multipart/form-data'))
    return { body: await readForm(request, contentType), size: 0 }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > JSON_BYTES_MAX) throw new Refusal(plainText(413, 'Payload Too Large'))
    chunks.push(chunk)
  }
  if (size === 0) return { body: {}, size }
  try {
    return { body: asRecord(JSON.parse(Buffer.concat(chunks).toString())), size }
  } catch {
    throw new Refusal(plainText(400, 'Invalid JSON'))
  }
}

/** Copies a JSON value without the content of its `data:` URLs. */
function withoutData(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('data:') ? value.replace(/,.*/s, ',…') : value
  if (Array.isArray(value)) return value.map(withoutData)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutData(each)]))
}
