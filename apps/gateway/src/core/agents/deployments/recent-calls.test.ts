import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentCalls } from './recent-calls.ts'

test('whatever passes between calls, those of the last 30 seconds are counted and no others', () => {
  const step = fc.record({
    hasFailed: fc.boolean(),
    afterMs: fc.oneof(fc.nat({ max: 900 }), fc.nat({ max: 40_000 }), fc.nat({ max: 10_000_000 })),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const recent = new RecentCalls()
      const seconds: { second: number; hasFailed: boolean }[] = []
      let nowMs = 12_345.6
      for (const { hasFailed, afterMs } of steps) {
        nowMs += afterMs
        recent.add(hasFailed, nowMs)
        const now = Math.floor(nowMs / 1_000)
        seconds.push({ second: now, hasFailed })
        const within = seconds.filter(({ second }) => second > now - 30)
        const failures = within.filter((each) => each.hasFailed).length
        expect(recent.count(nowMs)).toEqual({ calls: within.length, failures })
      }
    }),
  )
})
