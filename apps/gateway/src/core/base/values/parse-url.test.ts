import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HOST_CHARACTERS_MAX, parseUrl } from './parse-url.ts'

const BASE = 'https://base.example.com/'
/** So many different characters take the parser minutes. */
const SLOW_HOST = Array.from({ length: 500_000 }, (_, at) =>
  String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
).join('')

test.each([
  'http://',
  ' \u0000http:\t//\n\\',
  'http:',
  'https:/',
  'http:////user@',
  '//',
  ' /\t\\',
  'any-scheme://',
])('a long host behind %j is not parsed', (before) => {
  expect(parseUrl(before + SLOW_HOST, BASE)).toBeNull()
  expect(parseUrl(`${before}${SLOW_HOST}/a`, 'http://base.example.com/')).toBeNull()
})

test('a host that is longer in ASCII is too long as well', () => {
  expect(parseUrl(`https://${'ä.'.repeat(20)}example.com`)).not.toBeNull()
  expect(parseUrl(`https://${'ä.'.repeat(60)}example.com`)).toBeNull()
})

test('no other host is too long, and every other text is parsed as usual', () => {
  const parts = [
    'http:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '.',
    '?',
    '#',
    ' ',
    '\t',
    'a',
    'ä',
    '8080',
    'x'.repeat(300),
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 8 }), fc.boolean(), (some, isRelative) => {
      const text = some.join('')
      const base = isRelative ? BASE : undefined
      const usual = URL.parse(text, base)
      const parsed = parseUrl(text, base)
      if ((usual?.hostname.length ?? 0) > HOST_CHARACTERS_MAX) expect(parsed).toBeNull()
      else if (text.length <= HOST_CHARACTERS_MAX || parsed !== null) expect(parsed?.href).toBe(usual?.href)
    }),
    { numRuns: process.env.SOAK ? 100_000 : 1_000 },
  )
})

test('a long path, query or file name is no host', () => {
  const long = 'a'.repeat(100_000)
  for (const text of [
    `https://example.com/${long}`,
    `https://example.com?${long}`,
    `/${long}`,
    long,
    `./${long}`,
  ]) {
    expect(parseUrl(text, BASE)?.href).toBe(URL.parse(text, BASE)?.href)
  }
})
