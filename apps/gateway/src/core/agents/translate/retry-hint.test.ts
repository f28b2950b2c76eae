import { describe, expect, test } from 'vitest'
import { retryHint } from './retry-hint.ts'

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT'

function withHeaders(headers: Record<string, string>, message?: string) {
  return retryHint({ header: (name) => headers[name], message })
}

describe('the header Retry-After', () => {
  test.each([
    ['23', 23],
    [' 0.5 ', 0.5],
    ['1m26s', 86],
    ['Wed, 21 Oct 2026 07:28:26 GMT', 26],
    ['Wednesday, 21-Oct-26 07:28:26 GMT', 26],
    ['Wed Oct 21 07:28:26 2026', 26],
    ['2026-10-21T07:28:26Z', 26],
    ['2026-10-21T09:28:26+02:00', 26],
    // A date in the past means at once; the caller of this function has a least wait.
    ['Wed, 21 Oct 2026 07:27:00 GMT', -60],
    ['-5', undefined],
    ['soon', undefined],
    ['in 5', undefined],
    ['Wed, 32 Foo 2026', undefined],
    ['', undefined],
  ])('%j is a wait of %j seconds', (value, seconds) => {
    expect(withHeaders({ 'retry-after': value, date: DATE })).toBe(seconds)
  })

  test('with a date is nothing without another date to compare it with', () => {
    expect(withHeaders({ 'retry-after': DATE })).toBeUndefined()
    expect(withHeaders({ 'retry-after': DATE, date: 'yesterday' })).toBeUndefined()
  })

  test('comes after Retry-After-Ms, and before what the text says', () => {
    expect(withHeaders({ 'retry-after-ms': '1500', 'retry-after': '9' }, 'try again in 7s')).toBe(1.5)
    expect(withHeaders({ 'retry-after-ms': 'x', 'retry-after': '9' }, 'try again in 7s')).toBe(9)
    expect(withHeaders({ 'retry-after': 'soon' }, 'try again in 7s')).toBe(7)
  })
})

test.each([
  ['Please try again in 26 seconds.', 26],
  ['Rate limit reached. Please try again in 7.66s. Visit …', 7.66],
  ['Please try again in 6ms.', 0.006],
  ['Please try again in 1m26.4s', 86.4],
  ['Please retry after 26 seconds.', 26],
  ['Please retry in 54.08s.', 54.08],
  ['You must wait at least 2 minutes', 120],
  ['Please wait another 1 hour and 5 minutes before you retry', 3_900],
  ['请求过于频繁，请 26 秒后重试', 26],
  ['请在2分钟之后再试', 120],
  ['Please try again later.', undefined],
  ['Please try again in 5 steps', undefined],
  ['The meeting takes 26 seconds', undefined],
  [{ toString: 1 }, undefined],
])('the text %j asks for %j seconds', (message, seconds) => {
  expect(retryHint({ message })).toBe(seconds)
})

test.each([
  [{ details: [null, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '26s' }] }, 26],
  [{ details: [{ retryDelay: { seconds: '26', nanos: 5 } }] }, 26],
  [{ retryDelay: '0.5s' }, 0.5],
  [{ retry_after: 26 }, 26],
  [{ retry_after: '1m' }, 60],
  [{ retry_after: -1 }, undefined],
  [{ details: { retryDelay: '5s' } }, undefined],
  [{ retryDelay: 'soon' }, undefined],
])('the error %j asks for %j seconds', (error, seconds) => {
  expect(retryHint({ error })).toBe(seconds)
})
