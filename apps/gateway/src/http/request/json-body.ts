import type { FastifyInstance } from 'fastify'
import { fail } from '#core/base/errors/errors.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { inBody, RequestProblem } from './field-place.ts'

/** No request needs deeper values, and they would overflow the stack of recursive functions. */
const DEPTH_MAX = 64

/**
 * Removes Fastify's own parsers, so that a route accepts a body only if the context in which it is registered has a parser
 * for its type. Every other type is refused with 415.
 */
export function refuseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
}

/**
 * Makes the routes of this context accept JSON in UTF-8 and nothing else. An empty body counts as absent; the schema of the
 * route decides whether that is valid. Routes that accept another type need a context of their own.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, ({ headers }, body, done) => {
    const { 'content-type': type = '', 'content-encoding': encoding } = headers
    try {
      if (encoding !== undefined) requireIdentity(encoding)
      if (type !== 'application/json') requireUtf8(type)
      done(null, body.length === 0 ? undefined : parseJsonText(textOf(body)))
    } catch (error) {
      done(error as Error)
    }
  })
}

/**
 * Parses JSON that a client has sent.
 *
 * @throws Problem `invalid_json`, `invalid_request`
 */
export function parseJsonText(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    // V8's message quotes the input, which may hold secrets, so only the position is taken from it.
    const position = /position (\d+)/.exec((cause as Error).message)?.[1]
    const place = position === undefined ? '' : ` (at position ${position})`
    fail('invalid_json', { detail: `body: is not valid JSON${place}.`, cause })
  }
  if (opensMoreThan(text, DEPTH_MAX)) requireShallow(value)
  return value
}

/**
 * Compressed bodies are refused: JSON bodies are small and files mostly compressed already, so compression gains little, and
 * it could hide a body that is huge.
 */
export function requireIdentity(encoding: string): void {
  if (!/^\s*(?:identity\s*)?$/i.test(encoding))
    fail('unsupported_media_type', 'content-encoding: expected identity.')
}

function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    fail('unsupported_media_type', 'content-type: expected charset utf-8.')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    fail('invalid_json', { detail: 'body: is not valid UTF-8.', cause })
  }
}

/** Whether the text has more brackets than that. One that has not is no deeper, and is not walked through. */
function opensMoreThan(text: string, brackets: number): boolean {
  let found = 0
  for (const _bracket of text.matchAll(/[[{]/g)) if (++found > brackets) return true
  return false
}

function requireShallow(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  for (const [name, value] of Object.entries(body)) {
    if (!isDeeperThan(value, DEPTH_MAX - 1)) continue
    const place = Array.isArray(body) ? inBody() : inBody(callerName(name))
    throw new RequestProblem(place, `is nested too deep; expected at most ${DEPTH_MAX} levels.`)
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  for (const child of Object.values(value)) if (isDeeperThan(child, depth - 1)) return true
  return false
}
