import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { cursorOf, idempotencyKeyOf, keptCallRefOf, sha256 } from './kept-request.ts'

const keyIn = (headers: Record<string, string>, keepsReplies = true) =>
  idempotencyKeyOf({ headers } as unknown as FastifyRequest, keepsReplies)

const mistakeIn = (place: string) =>
  expect.objectContaining({
    reason: 'invalid_request',
    detail: expect.stringMatching(new RegExp(`^${place}: `)),
  })

test('a request without the header is not kept, also where the gateway keeps no replies', () => {
  expect(keyIn({})).toBeUndefined()
  expect(keyIn({}, false)).toBeUndefined()
})

test('where the gateway keeps no replies the header is refused', () => {
  expect(() => keyIn({ 'idempotency-key': 'order-17' }, false)).toThrow(mistakeIn('headers.idempotency-key'))
})

test.each(['a', 'a'.repeat(255), '!"#$ %&\'()~', 'a, b'])('the key %j is valid', (key) => {
  expect(keyIn({ 'idempotency-key': key })).toBe(key)
})

test.each(['', 'a'.repeat(256), 'clé', 'a\u0007b', 'a\tb', 'a\u007f', '\u00a0a'])(
  'the key %j is refused',
  (key) => {
    expect(() => keyIn({ 'idempotency-key': key })).toThrow(mistakeIn('headers.idempotency-key'))
  },
)

test.each([
  [undefined, undefined, undefined],
  ['', undefined, undefined],
  ['', '7', 7],
  ['42', '7', 42],
  ['007', undefined, 7],
  ['2147483647', undefined, 2_147_483_647],
])('of the header %j and the parameter %j, the number %j counts', (header, parameter, number) => {
  expect(cursorOf(header, parameter)).toBe(number)
})

test.each([' 1', '-1', '+1', '1.0', '1e3', '0x1', '2147483648', '9'.repeat(400), 'a', '１'])(
  'the id %j of an event is refused',
  (text) => {
    expect(() => cursorOf(text)).toThrow(mistakeIn('headers.last-event-id'))
    expect(() => cursorOf(undefined, text)).toThrow(mistakeIn('query.after'))
  },
)

test('a call is named by its id or by its key', () => {
  const callId = '01A1FAA7-0CE6-72BF-81FB-303A896A4805'
  expect(keptCallRefOf(callId)).toEqual({ kind: 'call', callId: callId.toLowerCase() })
  expect(keptCallRefOf('key:a b:c')).toEqual({ kind: 'key', hash: sha256('a b:c') })
  expect(() => keptCallRefOf('order-17')).toThrow(expect.any(Problem))
})
