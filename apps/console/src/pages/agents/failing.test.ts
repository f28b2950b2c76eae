import { expect, test } from 'vitest'
import { failingOf } from './failing.ts'

/** The last of them goes on. */
const hoursOf = (...counts: (readonly [calls: number, failedCalls: number])[]) =>
  counts.map(([calls, failedCalls], hour) => ({ start: `2026-11-22T0${hour}:00:00Z`, calls, failedCalls }))

test('an agent fails where nearly all calls of this hour did, or of the hour before as well where these are few', () => {
  expect(failingOf(hoursOf([500, 0], [10, 9]))).toEqual({
    ...{ calls: 10, failedCalls: 9, since: '2026-11-22T01:00:00Z' },
  })
  expect(failingOf(hoursOf([500, 0], [3, 3], [2, 2]))).toEqual({
    ...{ calls: 5, failedCalls: 5, since: '2026-11-22T01:00:00Z' },
  })
  expect(failingOf(hoursOf([500, 500], [5, 4]))).toBeUndefined()
  expect(failingOf(hoursOf([500, 500], [2, 2], [2, 2]))).toBeUndefined()
  expect(failingOf([])).toBeUndefined()
})
