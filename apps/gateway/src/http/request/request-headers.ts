import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from 'fastify'
import { fail } from '#core/base/errors/errors.ts'
import { inHeader, RequestProblem } from './field-place.ts'

/**
 * Refuses a request that sends a header more than once of those that its route reads. Node joins them to `a, b`, which for an
 * `Idempotency-Key` would be another key, and a proxy in front may have looked at one of them alone. Headers that only accompany
 * a request, such as `X-Request-Id`, are in no schema: proxies add them, and what is not valid there is replaced.
 */
export function refuseRepeatedHeaders(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const names = Object.keys((route.schema?.headers as HeadersSchema | undefined)?.properties ?? {})
    if (names.length === 0) return
    const check: preValidationHookHandler = (request, _reply, done) => {
      for (const name of names) {
        const value = request.headers[name]
        // Only what was joined has to be counted.
        if (typeof value === 'string' && value.includes(', ')) requireOnce(request, name)
      }
      done()
    }
    route.preValidation = [check, ...[route.preValidation ?? []].flat()]
  })
}

interface HeadersSchema {
  readonly properties?: Readonly<Record<string, unknown>>
}

/**
 * Requires that a header is not sent more than once.
 *
 * @throws Problem `invalid_request`, or `unknown_agent` for the header `Agent`
 */
export function requireOnce({ raw }: FastifyRequest, name: string): void {
  if (!isRepeated(raw, name)) return
  if (name === 'agent') fail('unknown_agent', { field: ['agent'], detail: SENT_AGAIN })
  throw new RequestProblem(inHeader(name), SENT_AGAIN)
}

const SENT_AGAIN = 'was sent more than once.'

/** Whether a header was sent more than once. Of some headers, Node silently keeps the first. */
export function isRepeated({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]
    if (each?.length === name.length && each.toLowerCase() === name) count += 1
  }
  return count > 1
}

/** A caller's `X-Request-Id` is used only if it matches: it is copied verbatim into headers, the log and the ledger. */
const PLAIN_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~:/=@-]{1,128}$/

/** Gives requests their ids. It takes the raw request because Fastify calls this before any hook has run. */
export function requestIds(newId: () => string): (request: Pick<IncomingMessage, 'headers'>) => string {
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && PLAIN_TOKEN.test(given) ? given : newId()
  }
}

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * Requires exactly one Host header in the form of a host name or address. Proxies and servers that disagree about the host
 * of a request can be tricked into mixing up sites.
 *
 * @throws Problem `invalid_host`
 */
export function requirePlainHost({ raw }: FastifyRequest): void {
  if (isRepeated(raw, 'host')) fail('invalid_host', 'host: was sent more than once.')
  const { host } = raw.headers
  if (host === undefined) {
    if (raw.httpVersion === '1.0') return
    fail('invalid_host', 'host: is missing.')
  }
  if (!HOST.test(host)) fail('invalid_host', 'host: expected a host name or address with an optional port.')
}

/**
 * The form of an id in a header. An id may be any text and a header value may not, so ids are percent-encoded in both
 * directions where they contain a `%` or anything but printable ASCII.
 */
export function headerOfId(id: string): string {
  return PLAIN_ID.test(id) ? id : encodeURIComponent(id)
}

/** Printable ASCII without `%`, and without spaces at either end, which HTTP strips. */
const PLAIN_ID = /^(?! )[\x20-\x24\x26-\x7e]*(?<! )$/

/**
 * The id in a header value of the form of {@link headerOfId}.
 *
 * @throws {@link RequestProblem} if the value is neither plain nor valid percent-encoded UTF-8
 */
export function idOfHeader(name: string, value: string): string {
  if (PLAIN_ID.test(value)) return value
  try {
    if (PRINTABLE_ASCII.test(value)) return decodeURIComponent(value)
  } catch {
    // An incomplete escape, or bytes that are not UTF-8.
  }
  throw new RequestProblem(
    inHeader(name),
    'expected printable ASCII, and percent-encoded UTF-8 for all else.',
  )
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/
