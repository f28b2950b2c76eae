import { expect, test } from 'vitest'
import { parseJson } from './json.ts'

test('an integer that a number cannot hold is the text of its digits, wherever it stands', () => {
  expect(parseJson('{"id":7374752000116113452,"list":[ -7374752000116113453],"n":12}')).toEqual({
    id: '7374752000116113452',
    list: ['-7374752000116113453'],
    n: 12,
  })
})

test.each([
  ['{"n":9007199254740991}', { n: 9_007_199_254_740_991 }],
  ['{"n":1234567890123456.5}', { n: 1_234_567_890_123_456.5 }],
  ['{"id":"7374752000116113452"}', { id: '7374752000116113452' }],
  ['1e400', Number.POSITIVE_INFINITY],
  ['{"n":', undefined],
  [7, undefined],
])('%j is read as %j', (text, value) => {
  expect(parseJson(text)).toEqual(value)
})
