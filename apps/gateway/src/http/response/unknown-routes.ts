import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import { otherApiHint, otherResourceHint } from './other-api-paths.ts'

/** A path that has routes, and the methods that they accept. */
interface KnownPath {
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

/**
 * Returns a function that gives the problem of a request without a route: 405 if the path has a route for another method, or
 * else 404. It records the routes as they are added, so it must be called before them: the router finds routes only by
 * method and cannot list the other methods of a path.
 */
export function watchRoutes(app: FastifyInstance): (request: FastifyRequest, reply: FastifyReply) => Problem {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = withoutEndingSlash(url)
    const methods = methodsOf.get(path) ?? new Set<string>()
    methodsOf.set(path, methods)
    for (const each of [method].flat()) methods.add(each)
  })
  let known: readonly KnownPath[] | undefined

  return (request, reply) => {
    const { method } = request
    const path = pathOf(request.url)
    known ??= [...methodsOf].map(([url, methods]) => ({ pattern: patternOf(url), methods: [...methods] }))
    const allowed = methodsAt(known, path)
    if (allowed.length === 0) {
      const detail = `${method} ${shortened(path)} is not a route. ${otherApiHint(path)}`.trimEnd()
      return new Problem('route_not_found', { detail })
    }
    if (method === 'GET' && path === RESPONSES && wantsWebSocket(request)) {
      reply.header('upgrade', 'HTTP/1.1').header('connection', 'close, upgrade')
      return new Problem('websocket_not_supported', { detail: 'send the request with POST.' })
    }
    reply.header('allow', allowed.join(', '))
    const detail = `${shortened(path)} takes ${allowed.join(', ')}, not ${method}. ${otherResourceHint(path) ?? ''}`
    return new Problem('method_not_allowed', { detail: detail.trimEnd() })
  }
}

/** Clients of OpenAI's may ask for a WebSocket here first, and send POST requests once they know that there is none. */
const RESPONSES = '/api/v1/responses'

/** Any other upgrade is ignored, as HTTP/1.1 allows. */
function wantsWebSocket({ headers }: FastifyRequest): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

function methodsAt(known: readonly KnownPath[], path: string): readonly string[] {
  const plain = withoutEndingSlash(path)
  const methods = known.filter(({ pattern }) => pattern.test(plain)).flatMap((each) => each.methods)
  return [...new Set(methods)].sort()
}

/** The URL of a route as a regular expression; `:name` matches a segment, `*` the rest. */
function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  // Linear time: a parameter ends at a slash, and only the last part of a route is a `*`.
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replace('*', '.*')}$`)
}

function withoutEndingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
