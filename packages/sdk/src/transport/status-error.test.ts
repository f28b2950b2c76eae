import { describe, expect, test } from 'vitest'
import { StatusError, TrunklineError } from '../errors.ts'
import { NotFoundError, RateLimitError } from '../status-errors.ts'
import { readStatusError, retryAfterMs } from './status-error.ts'

describe('the error of a response', () => {
  test('carries what the body and the headers say', async () => {
    const body = {
      code: 429,
      msg: 'Too many.',
      detail: 'chat: 60',
      reason: 'rate_limited',
      request_id: 'r-1',
    }
    const error = await readStatusError(Response.json(body, { status: 429, headers: { 'retry-after': '7' } }))
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toBeInstanceOf(TrunklineError)
    expect(error).toMatchObject({
      name: 'RateLimitError',
      message: '429 rate_limited: Too many. chat: 60',
      status: 429,
      reason: 'rate_limited',
      detail: 'chat: 60',
      requestId: 'r-1',
      retryAfterMs: 7000,
    })
  })

  test.each(['', '<html>Bad gateway</html>', 'null', '[]', '{"msg":1}'])(
    'reads the body %j of a proxy',
    async (body) => {
      const response = new Response(body, { status: 418, headers: { 'x-request-id': 'r-2' } })
      const error = await readStatusError(response)
      expect(error.constructor).toBe(StatusError)
      expect(error).toMatchObject({ status: 418, reason: undefined, requestId: 'r-2' })
    },
  )
})

test('what the body says twice is said once', async () => {
  const body = { msg: 'Not found.', detail: 'Not found.', reason: 'not_found' }
  const error = await readStatusError(Response.json(body, { status: 404 }))
  expect(error.message).toBe('404 not_found: Not found.')
})

describe('isInstance', () => {
  /** The class of another copy of the package, as a bundler may have renamed it. */
  class a extends Error {
    override readonly name: string = 'TrunklineError'
  }
  Object.assign(a, { [Symbol.for('trunkline.error')]: true })
  class b extends a {
    override readonly name: string = 'StatusError'
  }
  class c extends b {
    override readonly name = 'RateLimitError'
  }

  test('knows an error of its class, of this copy and of another one', async () => {
    const own = await readStatusError(new Response('', { status: 429 }))
    for (const error of [own, new c()]) {
      for (const Class of [TrunklineError, StatusError, RateLimitError])
        expect(Class.isInstance(error)).toBe(true)
      expect(NotFoundError.isInstance(error)).toBe(false)
    }
    expect(StatusError.isInstance(new a())).toBe(false)
  })

  test.each([
    undefined,
    null,
    5,
    'TrunklineError',
    {},
    { name: 'TrunklineError' },
    new Error('x'),
    Object.create(null),
  ])('refuses %j', (value) => {
    expect(TrunklineError.isInstance(value)).toBe(false)
  })
})

test('every field at fault is on the error, and what is no such list is left out', async () => {
  const fields = [
    { field: 'body.username', message: 'expected 3 to 64 letters, digits and . _ - @.' },
    { field: 'body.password', message: 'expected a string of 8 to 256 characters.' },
  ]
  const read = (given: unknown) => readStatusError(Response.json({ fields: given }, { status: 400 }))
  expect((await read(fields)).fields).toEqual(fields)
  expect((await read([...fields, { field: 1 }, null])).fields).toEqual(fields)
  for (const other of [undefined, null, 'body', {}, [], [7]])
    expect((await read(other)).fields).toBeUndefined()
})

test.each([
  ['3', 3000],
  ['0', 0],
  ['Sun, 22 Nov 2026 20:00:05 GMT', 5000],
  ['Sun, 22 Nov 2026 19:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After %s is a wait of %s ms', (value, wait) => {
  const now = Date.parse('2026-11-22T20:00:00Z')
  expect(retryAfterMs(new Headers({ 'retry-after': value }), now)).toBe(wait)
})
