import { expect, it } from 'vitest'
import { addLive, type LiveUsage } from './live-totals.ts'

const TOTALS = { calls: 100, failedCalls: 5, totalTokens: 1_000, other: 'kept' }

function live(calls: number, failedCalls: number, totalTokens: number | null, day = '2026-11-22'): LiveUsage {
  return { day, totals: { calls, failedCalls, totalTokens } } as LiveUsage
}

it('live usage adds to a report what was counted since it was read', () => {
  expect(addLive(TOTALS, live(10, 1, 50), live(13, 2, 80))).toEqual({
    calls: 103,
    failedCalls: 6,
    totalTokens: 1_030,
    other: 'kept',
  })
})

it('live usage adds all of a new day', () => {
  const next = live(2, 0, 7, '2026-11-23')
  expect(addLive(TOTALS, live(10, 1, 50), next)).toMatchObject({ calls: 102, totalTokens: 1_007 })
})

it('live usage keeps unknown tokens unknown', () => {
  const unknown = { ...TOTALS, totalTokens: null }
  expect(addLive(unknown, live(1, 0, null), live(2, 0, null)).totalTokens).toBeNull()
  expect(addLive(unknown, live(1, 0, null), live(2, 0, 9)).totalTokens).toBe(9)
})

it('a report without live usage stays as it is', () => {
  expect(addLive(TOTALS, undefined, live(1, 0, 0))).toBe(TOTALS)
})
