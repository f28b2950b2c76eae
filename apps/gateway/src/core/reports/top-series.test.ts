import { expect, test } from 'vitest'
import type { Series } from './reports.ts'
import { type SeriesOrder, topSeries } from './top-series.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

const seriesOf = (key: string, calls: number, failedCalls: number, totalTokens: number | null): Series => ({
  group: { key },
  totals: { ...new UsageAccumulator().metrics(), calls, failedCalls, totalTokens },
  points: [],
})

test('the first series are those with the most of what is asked for', () => {
  const series = [seriesOf('a', 9, 0, null), seriesOf('b', 5, 3, 3_000_000_000), seriesOf('c', 5, 1, 7)]
  const keys = (order: SeriesOrder, count: number) =>
    topSeries(series, order, count).map(({ group }) => group.key)
  expect(keys('calls', 2)).toEqual(['a', 'b'])
  expect(keys('failed_calls', 3)).toEqual(['b', 'c', 'a'])
  expect(keys('total_tokens', 2)).toEqual(['b', 'c'])
  expect(keys('calls', 100)).toEqual(['a', 'b', 'c'])
})
