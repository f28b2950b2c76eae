import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/errors.ts'
import { otherApiHint } from './other-api-paths.ts'

/** What stands at a path: the methods that its routes take. */
interface KnownPath {
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

/**
 * The problem of a request that no route takes: 405 where the path has a route for another method, else 404. Must be called
 * before the routes are added, since it listens to them: the router itself is asked by method and does not say what else
 * it has.
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
    reply.header('allow', allowed.join(', '))
    return new Problem('method_not_allowed', {
      detail: `${shortened(path)} takes ${allowed.join(', ')}, not ${method}.`,
    })
  }
}

function methodsAt(known: readonly KnownPath[], path: string): readonly string[] {
  const plain = withoutEndingSlash(path)
  const methods = known.filter(({ pattern }) => pattern.test(plain)).flatMap((each) => each.methods)
  return [...new Set(methods)].sort()
}

/** A route's URL as an expression: `:name` stands for a segment, `*` for the rest. */
function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
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
