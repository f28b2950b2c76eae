import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { validate } from 'uuid'
import { fail } from '#core/base/errors/errors.ts'
import type { KeptCallRef } from '#core/reply-log/kept-call.ts'
import { inHeader, RequestProblem } from '../request/field-place.ts'

export const IDEMPOTENCY_KEY = 'idempotency-key'

/** The headers of a request whose reply is kept. */
export const KEPT_HEADERS = {
  [IDEMPOTENCY_KEY]: Type.Optional(
    Type.String({
      description:
        'Keeps the reply under this key of your choice (1 to 255 printable ASCII characters), so that the same request can be repeated without another run, and its stream resumed.',
      examples: ['order-17-question-1'],
    }),
  ),
  'last-event-id': Type.Optional(
    Type.String({
      description:
        'Where the request repeats one with the same `Idempotency-Key`: the `id` of the last event that the client has of its stream.',
    }),
  ),
}

/** Printable ASCII. */
const KEY = /^[\x20-\x7e]{1,255}$/

/**
 * The `Idempotency-Key` of a request; undefined if it has none.
 *
 * @param keepsReplies - whether the gateway keeps replies at all
 * @throws RequestProblem if the key is not valid, or has no use
 */
export function idempotencyKeyOf({ headers }: FastifyRequest, keepsReplies: boolean): string | undefined {
  const key = headers[IDEMPOTENCY_KEY]
  if (key === undefined) return undefined
  const mistake = mistakeOfKey(key, keepsReplies)
  if (mistake !== undefined) throw new RequestProblem(inHeader(IDEMPOTENCY_KEY), mistake)
  return String(key)
}

/** What is wrong with an `Idempotency-Key`; undefined if it is valid and has a use. */
export function mistakeOfKey(key: unknown, keepsReplies: boolean): string | undefined {
  if (!keepsReplies) return 'this gateway keeps no replies, so send the request without an Idempotency-Key.'
  if (typeof key !== 'string' || !KEY.test(key))
    return 'expected 1 to 255 printable ASCII characters as the Idempotency-Key.'
  return undefined
}

const KEY_PREFIX = 'key:'

/**
 * The kept call that a client names, by its id or as `key:<Idempotency-Key>`.
 *
 * @throws Problem `call_not_found` for a name that no call can have
 */
export function keptCallRefOf(name: string): KeptCallRef {
  if (name.startsWith(KEY_PREFIX)) return { kind: 'key', hash: sha256(name.slice(KEY_PREFIX.length)) }
  return validate(name) ? { kind: 'call', callId: name.toLowerCase() } : fail('call_not_found')
}

/** The largest number of an event, that of PostgreSQL's type `integer`. */
const NUMBER_MAX = 2 ** 31 - 1

/**
 * The number of the last event that a client has, as its header or its query parameter names it; undefined if neither does.
 *
 * @throws RequestProblem if it is no number of an event
 */
export function cursorOf(header: unknown, parameter?: string | undefined): number | undefined {
  const isHeader = header !== undefined && header !== ''
  const text = isHeader ? header : parameter
  if (text === undefined) return undefined
  const number = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (number <= NUMBER_MAX) return number
  const place = isHeader ? inHeader('last-event-id') : ({ part: 'query', path: ['after'] } as const)
  throw new RequestProblem(place, `expected the id of an event, a whole number up to ${NUMBER_MAX}.`)
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
