import { describe, expect, it } from 'vitest'
import { ticks } from './ticks.ts'

const HOUR_MS = 3_600_000

function hours(from: string, count: number): string[] {
  return Array.from({ length: count }, (_, hour) => new Date(Date.parse(from) + hour * HOUR_MS).toISOString())
}

describe('the axis of time', () => {
  it('names every hour where there is room, and every third where there is less', () => {
    const starts = hours('2026-11-22T00:00:00Z', 24)
    expect(ticks({ starts, granularity: 'HOUR', zone: 'UTC' }, 24)).toHaveLength(24)
    expect(ticks({ starts, granularity: 'HOUR', zone: 'UTC' }, 8)).toEqual([0, 3, 6, 9, 12, 15, 18, 21])
  })

  it('goes by the clocks of the zone', () => {
    const starts = hours('2026-11-22T00:00:00Z', 24)
    // 08:00 in Shanghai is the first bucket, so 12:00 is the fifth.
    expect(ticks({ starts, granularity: 'HOUR', zone: 'Asia/Shanghai' }, 4)).toEqual([4, 10, 16, 22])
  })

  it('names midnights of a week of hours, and the last of many days', () => {
    const week = hours('2026-11-16T00:00:00Z', 168)
    expect(ticks({ starts: week, granularity: 'HOUR', zone: 'UTC' }, 8)).toEqual([
      0, 24, 48, 72, 96, 120, 144,
    ])
    const days = Array.from({ length: 30 }, (_, day) => new Date(Date.UTC(2026, 10, day + 1)).toISOString())
    const named = ticks({ starts: days, granularity: 'DAY', zone: 'UTC' }, 7)
    expect(named.at(-1)).toBe(29)
    expect(named.length).toBeLessThanOrEqual(7)
  })
})
