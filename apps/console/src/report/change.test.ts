import { expect, it } from 'vitest'
import { changeOf } from './change.ts'

it('a change is the share of what was before, and has a direction', () => {
  expect(changeOf(150, 100)).toEqual({ direction: 'up', share: 0.5 })
  expect(changeOf(75, 100)).toEqual({ direction: 'down', share: 0.25 })
  expect(changeOf(0, 100)).toEqual({ direction: 'down', share: 1 })
  expect(changeOf(100_001, 100_000)).toEqual({ direction: 'same', share: 0 })
  expect(changeOf(0, 0)).toEqual({ direction: 'same', share: 0 })
})

it('a change is undefined where nothing was before, or nothing is known', () => {
  expect(changeOf(5, 0)).toBeUndefined()
  expect(changeOf(5, null)).toBeUndefined()
  expect(changeOf(undefined, 5)).toBeUndefined()
})

it('a change is none for percentiles that may be as good as equal', () => {
  expect(changeOf(561, 510, 'percentile')).toEqual({ direction: 'same', share: 0 })
  expect(changeOf(510, 561, 'percentile')).toEqual({ direction: 'same', share: 0 })
  expect(changeOf(617.1, 510, 'percentile')).toMatchObject({ direction: 'up' })
  expect(changeOf(510, 617.1, 'percentile')).toMatchObject({ direction: 'down' })
})
