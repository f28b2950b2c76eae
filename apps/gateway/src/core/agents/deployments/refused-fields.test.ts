import { expect, test } from 'vitest'
import { RefusedFields } from './refused-fields.ts'

const HOUR_MS = 3_600_000

test('a refused field is left out for an hour, and is news only once in it', () => {
  const refused = new RefusedFields()
  expect(refused.at(0)).toEqual([])
  expect(refused.remember(['user'], 0)).toEqual(['user'])
  expect(refused.remember(['user', 'stream_options'], 10)).toEqual(['stream_options'])
  expect(refused.at(HOUR_MS + 9)).toEqual(['user', 'stream_options'])
  expect(refused.at(HOUR_MS + 10)).toEqual([])
  expect(refused.remember(['user'], HOUR_MS + 10)).toEqual(['user'])
})
