import { describe, expect, it } from 'vitest'
import { ticks, valueTicks } from './ticks.ts'

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

describe('the axis of values', () => {
  it('has three to five lines at round values, up to the largest value or just above it', () => {
    expect(valueTicks(9, 'bars')).toEqual([2, 4, 6, 8, 10])
    expect(valueTicks(10.5, 'bars')).toEqual([5, 10, 15])
    expect(valueTicks(1_850, 'bars')).toEqual([500, 1_000, 1_500, 2_000])
    for (let max = 1; max < 1e9; max = Math.ceil(max * 1.07)) {
      for (const kind of ['bars', 'lines'] as const) {
        const lines = valueTicks(max, kind)
        expect(lines.length, `${max}`).toBeGreaterThanOrEqual(3)
        expect(lines.length, `${max}`).toBeLessThanOrEqual(5)
        // uPlot asks for the lines of the axis that they end.
        expect(valueTicks(lines.at(-1) ?? 0, kind)).toEqual(lines)
      }
    }
  })

  it('has whole numbers for few calls, and for none', () => {
    expect(valueTicks(1, 'bars')).toEqual([1, 2, 3])
    expect(valueTicks(0, 'bars')).toEqual([1, 2, 3])
  })

  it('counts longer times in half minutes and minutes', () => {
    expect(valueTicks(4_200, 'lines')).toEqual([1_000, 2_000, 3_000, 4_000, 5_000])
    expect(valueTicks(130_000, 'lines')).toEqual([30_000, 60_000, 90_000, 120_000, 150_000])
    expect(valueTicks(170_000, 'lines')).toEqual([60_000, 120_000, 180_000])
  })
})
