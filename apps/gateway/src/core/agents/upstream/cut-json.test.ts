import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCutJson } from './cut-json.ts'

test.each([
  [
    '{"error":{"code":"too_long","message":"the input is aaaa',
    { error: { code: 'too_long', message: 'the input is aaaa' } },
  ],
  ['[{"error":{"code":400,"mess', [{ error: { code: 400 } }]],
  ['{"a":[1,2,{"b":"c"},tru', { a: [1, 2, { b: 'c' }] }],
  ['{"a":"b\\', { a: 'b' }],
  ['{"a":"b\\\\', { a: 'b\\' }],
  ['{"a":"b\\ud83d\\ude', { a: 'b\ud83d' }],
  ['{"a":"\\"}","b":12', { a: '"}', b: 12 }],
  ['{"a":1,"b":', { a: 1 }],
  ['  {', {}],
])('%s', (text, value) => {
  expect(parseCutJson(text)).toEqual(value)
})

test.each(['', 'plain text', '"a text', '<html>{', '{"a":1}}}', '12'])(
  '%j is not the beginning of JSON',
  (text) => {
    expect(parseCutJson(text)).toBeUndefined()
  },
)

test('whatever is cut anywhere, its complete part is read', () => {
  const value = fc.oneof(fc.object({ maxDepth: 3 }), fc.array(fc.jsonValue(), { minLength: 1 }))
  fc.assert(
    fc.property(value, fc.nat(), (whole, at) => {
      const text = JSON.stringify(whole)
      expect(parseCutJson(text.slice(0, 1 + (at % (text.length - 1))))).toBeTypeOf('object')
    }),
    { numRuns: process.env.SOAK ? 20_000 : 200 },
  )
})

test('brackets and backslashes without an end cost no more than their length', () => {
  expect(parseCutJson(`{"a":[${'['.repeat(500_000)}`)).toBeDefined()
  expect(parseCutJson(`{"a":"${'\\\\'.repeat(500_000)}`)).toEqual({ a: '\\'.repeat(500_000) })
})
