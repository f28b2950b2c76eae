import { expect, test } from 'vitest'
import { headerOfId, idOfHeader } from './request-headers.ts'

test.each([
  ['c1', 'c1'],
  ['a b/c?d=e', 'a b/c?d=e'],
  ['', ''],
  ['100%', '100%25'],
  ['会话', '%E4%BC%9A%E8%AF%9D'],
  ['👋', '%F0%9F%91%8B'],
  ['ü', '%C3%BC'],
  [' a ', '%20a%20'],
])('the id %j is written as %s in a header and read back from it', (id, header) => {
  expect(headerOfId(id)).toBe(header)
  expect(idOfHeader('x-id', header)).toBe(id)
})

test('any percent-encoded character of a header is decoded', () => {
  expect(idOfHeader('x-id', '%63%31')).toBe('c1')
  expect(idOfHeader('x-id', 'a%20b c')).toBe('a b c')
})

test.each(['100%', '%zz', '%ff', '%E4%BC', '\u00fc', '\u00c3\u00bc'])(
  'the header %j is rejected as an id',
  (header) => {
    expect(() => idOfHeader('x-id', header)).toThrow(
      expect.objectContaining({
        reason: 'invalid_request',
        detail: expect.stringMatching(/^headers\.x-id: /),
      }),
    )
  },
)
