import { expect, test } from 'vitest'
import { parseLenientJson } from './lenient-json.ts'

test.each([
  ['{"a":NaN}', { a: null }],
  ['[Infinity,-Infinity, NaN]', [null, null, null]],
  ['{"a":"NaN \\" -Infinity","b":NaN}', { a: 'NaN " -Infinity', b: null }],
  ['\ufeff{"a":1}', { a: 1 }],
  ['\ufeff{"a":NaN}', { a: null }],
])('%s is read', (text, value) => {
  expect(parseLenientJson(text)).toEqual(value)
})

test.each(['', '{', '{"a":NaNa}', '{"a":undefined}', '{"a":"NaN', 'NaN NaN', "{'a':1}"])(
  '%j is not',
  (text) => {
    expect(parseLenientJson(text)).toBeUndefined()
  },
)

test('a long string costs no more than its length', () => {
  const text = `{"a":"${'x\\"'.repeat(500_000)}","b":NaN}`
  expect(parseLenientJson(text)).toMatchObject({ b: null })
})

test('strings without an end cost no more than their length', () => {
  expect(parseLenientJson(`NaN${'"\\'.repeat(500_000)}`)).toBeUndefined()
  expect(parseLenientJson(`NaN"${'\\"'.repeat(500_000)}\\`)).toBeUndefined()
})
