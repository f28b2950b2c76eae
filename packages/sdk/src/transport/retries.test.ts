import { describe, expect, test } from 'vitest'
import { ConnectionError, TimeoutError } from '../errors.ts'
import { type Repeatable, retryDelayMs } from './retries.ts'
import { statusError } from './status-error.ts'

const delayMs = (error: unknown, repeatable?: Repeatable, retries = 0) =>
  retryDelayMs(error, retries, repeatable, 0)
const answered = (status: number, headers: Record<string, string> = {}) =>
  statusError({ status, headers: new Headers(headers) }, {})
const broken = (wasConnected: boolean) => new ConnectionError('broken', { wasConnected })

describe('what is repeated', () => {
  test.each([408, 429, 500, 502, 503, 504])('status %i, but not where it creates', (status) => {
    expect(delayMs(answered(status))).toBe(500)
    expect(delayMs(answered(status), 'advised')).toBeUndefined()
    expect(delayMs(answered(status), 'unreached')).toBeUndefined()
  })

  test.each([400, 401, 403, 404, 409, 413])('not status %i', (status) => {
    expect(delayMs(answered(status))).toBeUndefined()
  })

  test('x-should-retry decides where it is present', () => {
    const yes = answered(409, { 'x-should-retry': 'true' })
    const no = answered(503, { 'x-should-retry': 'false' })
    expect(delayMs(yes, 'advised')).toBe(500)
    // The gateway may have lost its database after it had carried out the request.
    expect(delayMs(yes, 'unreached')).toBeUndefined()
    expect(delayMs(no)).toBeUndefined()
  })

  test('a connection that broke, and what creates only where none was made', () => {
    expect(delayMs(broken(true))).toBe(500)
    for (const repeatable of ['advised', 'unreached'] as const) {
      expect(delayMs(broken(true), repeatable)).toBeUndefined()
      expect(delayMs(broken(false), repeatable)).toBe(500)
    }
  })

  test('no timeout and no error of the caller', () => {
    expect(delayMs(new TimeoutError('late'))).toBeUndefined()
    expect(delayMs(new TypeError('a mistake'))).toBeUndefined()
  })
})

describe('how long to wait', () => {
  test('doubles up to 8 s, less a jitter of at most a quarter', () => {
    const waits = [0, 1, 2, 3, 4, 5].map((retries) => delayMs(answered(503), undefined, retries))
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000])
    expect(retryDelayMs(answered(503), 0, undefined, 1)).toBe(375)
  })

  test('is never shorter than Retry-After, and longer ones are left to the caller', () => {
    expect(delayMs(answered(429, { 'retry-after': '7' }))).toBe(7000)
    expect(delayMs(answered(429, { 'retry-after': '0' }))).toBe(500)
    expect(delayMs(answered(429, { 'retry-after': '61' }))).toBeUndefined()
  })
})
