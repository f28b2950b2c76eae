import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { fail } from '#core/errors/errors.ts'
import { isRepeated } from './repeated-headers.ts'

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
