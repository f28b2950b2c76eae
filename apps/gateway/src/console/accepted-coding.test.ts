import { expect, test } from 'vitest'
import { acceptedCoding, CODINGS } from './accepted-coding.ts'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP;q=0.2, identity', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['identity', undefined],
  ['', undefined],
  ['br;q=nonsense', undefined],
  [undefined, undefined],
])('the Accept-Encoding %j leads to the codings %j', (header, coding) => {
  expect(acceptedCoding(header, CODINGS)).toBe(coding)
})

test('only a coding in which the file is stored is chosen', () => {
  expect(acceptedCoding('br, gzip', ['gzip'])).toBe('gzip')
  expect(acceptedCoding('br, gzip', [])).toBeUndefined()
})
