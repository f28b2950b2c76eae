import { describe, expect, it } from 'vitest'
import { areSlow, judgeFailures, judgeTime } from './verdict.ts'

type Pair = readonly [calls: number, failedCalls: number]

function judge(now: Pair, before: Pair) {
  const [counts, countsBefore] = [now, before].map(([calls, failedCalls]) => ({ calls, failedCalls }))
  return counts && countsBefore && judgeFailures(counts, countsBefore)
}

describe('failures', () => {
  it('are worse, or better the other way round, where neither chance nor the number of calls explains them', () => {
    expect(judge([100, 30], [100, 10])).toBe('worse')
    expect(judge([100, 10], [100, 30])).toBe('better')
    expect(judge([100, 20], [1_000, 20])).toBe('worse')
  })

  it.each<[string, Pair, Pair]>([
    ['with twice as many calls', [200, 20], [100, 10]],
    ['with a few more by chance', [100, 15], [100, 10]],
    ['with a large number that is hardly larger', [1_000_000, 10_500], [1_000_000, 10_000]],
    ['with few', [100, 4], [100, 0]],
    ['with nothing to compare with', [100, 30], [0, 0]],
    ['with nothing now', [0, 0], [100, 30]],
  ])('are neither better nor worse %s', (_how, now, before) => {
    expect([judge(now, before), judge(before, now)]).toEqual([undefined, undefined])
  })
})

it('times are judged only where they can be told apart', () => {
  expect([judgeTime(617.1, 510), judgeTime(510, 617.1), judgeTime(561, 510)]).toEqual([
    'worse',
    'better',
    undefined,
  ])
  expect([judgeTime(null, 510), judgeTime(510, undefined)]).toEqual([undefined, undefined])
})

it('first texts are slow where enough calls wait clearly longer than before, and longer than a moment', () => {
  const of = (calls: number, p95?: number) => ({ calls, firstChunkMs: p95 === undefined ? null : { p95 } })
  expect(areSlow(of(10, 3_000), of(10, 2_000))).toBe(true)
  expect(areSlow(of(10, 2_900), of(10, 2_000))).toBe(false)
  expect(areSlow(of(1_000, 1_900), of(1_000, 100))).toBe(false)
  expect(areSlow(of(9, 9_000), of(100, 100))).toBe(false)
  expect(areSlow(of(100, 9_000), of(9, 100))).toBe(false)
  expect([areSlow(of(100), of(100, 100)), areSlow(of(100, 9_000), of(100))]).toEqual([false, false])
})
