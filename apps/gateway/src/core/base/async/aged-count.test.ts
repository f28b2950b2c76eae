import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgedCount, type Period } from './aged-count.ts'

test('what waits is counted, and the oldest has an age', () => {
  let nowMs = 0
  const waiting = new AgedCount(() => nowMs)
  expect([waiting.count, waiting.oldestMs]).toEqual([0, 0])
  const first = waiting.add()
  nowMs = 10
  const second = waiting.add()
  nowMs = 25
  expect([waiting.count, waiting.oldestMs]).toEqual([2, 25])
  waiting.remove(first)
  expect([waiting.count, waiting.oldestMs]).toEqual([1, 15])
  waiting.remove(second)
  expect([waiting.count, waiting.oldestMs]).toEqual([0, 0])
})

test('a load that never pauses does not look old while each waits for a short time', () => {
  let nowMs = 0
  const waiting = new AgedCount(() => nowMs)
  const begun: Period[] = []
  for (; nowMs < 10_000; nowMs += 1) {
    begun.push(waiting.add())
    const done = begun.length > 5 ? begun.shift() : undefined
    if (done !== undefined) waiting.remove(done)
    expect(waiting.count).toBe(begun.length)
    expect(waiting.oldestMs).toBeLessThanOrEqual(10)
  }
})

test('in whatever order they end: the count is exact, the age never too small, and 0 only when nothing waits', () => {
  const steps = fc.array(
    fc.record({ adds: fc.boolean(), which: fc.nat(), ms: fc.integer({ min: 1, max: 9 }) }),
  )
  fc.assert(
    fc.property(steps, (all) => {
      let nowMs = 1
      const waiting = new AgedCount(() => nowMs)
      const begun: { readonly period: Period; readonly atMs: number }[] = []
      for (const { adds, which, ms } of all) {
        nowMs += ms
        if (adds) begun.push({ period: waiting.add(), atMs: nowMs })
        else {
          const [ended] = begun.splice(which % Math.max(1, begun.length), 1)
          if (ended !== undefined) waiting.remove(ended.period)
        }
        const oldestMs = begun.length === 0 ? 0 : nowMs - Math.min(...begun.map(({ atMs }) => atMs))
        expect(waiting.count).toBe(begun.length)
        expect(waiting.oldestMs).toBeGreaterThanOrEqual(oldestMs)
        if (begun.length === 0) expect(waiting.oldestMs).toBe(0)
      }
    }),
    { numRuns: process.env.SOAK ? 10_000 : 200 },
  )
})
