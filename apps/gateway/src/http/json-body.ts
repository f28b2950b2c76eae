import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '#core/errors.ts'

/** Deeper values serve nobody, and would overflow the stack of whatever walks them. */
const DEPTH_MAX = 64

/**
 * Takes away Fastify's own parsers, so that a route takes a body only where the context in which it is registered has a
 * parser for its type. Every other type is 415.
 */
export function refuseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
}

/**
 * The routes of this context take JSON in UTF-8 and nothing else. An empty body is absent; the schema of the route says
 * whether that is enough. Routes that take another type stand in a context of their own beside it.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseJsonBody(request, body))
    } catch (error) {
      done(error as Error)
    }
  })
}

function parseJsonBody(request: FastifyRequest, body: Buffer): unknown {
  requireIdentity(request.headers['content-encoding'])
  requireUtf8(request.headers['content-type'])
  if (body.length === 0) return undefined
  const value = parse(decode(body))
  if (isDeeperThan(value, DEPTH_MAX)) {
    fail('invalid_request', `body: is nested too deep; expected at most ${DEPTH_MAX} levels.`)
  }
  return value
}

/** Bodies are at most 1 MiB: nothing is gained by compressing them, and what unpacks to far more could be hidden in one. */
function requireIdentity(encoding: string | undefined): void {
  if (encoding === undefined || /^\s*(?:identity\s*)?$/i.test(encoding)) return
  fail('unsupported_media_type', `content-encoding: expected identity, got ${encoding.slice(0, 40)}.`)
}

function requireUtf8(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    fail('unsupported_media_type', `content-type: expected charset utf-8, got ${charset.slice(0, 40)}.`)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    fail('invalid_json', { detail: 'body: is not valid UTF-8.', cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // V8 quotes the input in its message; the position alone is enough.
    const position = /position (\d+)/.exec((cause as Error).message)?.[1]
    const place = position === undefined ? '' : ` (at position ${position})`
    fail('invalid_json', { detail: `body: is not valid JSON${place}.`, cause })
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  for (const child of Object.values(value)) if (isDeeperThan(child, depth - 1)) return true
  return false
}
