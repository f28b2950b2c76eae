import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, plainText, Refusal } from './answer.ts'
import { asRecord, type JsonRecord } from './narrow.ts'
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
  readonly [route: `${'GET' | 'POST'} /${string}`]: Handler
}

export interface HttpServer {
  readonly origin: string
  close(): Promise<void>
}

export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  readonly routes: Routes
  readonly notFound: Answer
  readonly seen: SeenLog
}

// Larger than the base64 form of any file that the gateway accepts by default.
const JSON_BYTES_MAX = 128 * 1024 * 1024

// The log keeps many requests, so that it holds no file of a larger body.
const LOGGED_BYTES_MAX = 1024 * 1024

/** Starts the HTTP server of one emulator. Its `close` does not wait for open streams. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, notFound, seen } = options
  const find = router(options.routes)
  const server = createServer(async (request, response) => {
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
  // Longer than client pools usually keep a socket, so that a client never reuses one that is just being
  // closed.
  server.keepAliveTimeout = 65_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    origin: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
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
