import { expect, test } from 'vitest'
import type { ReportGroup } from './reports.ts'
import { type GroupOrder, topGroups } from './top-groups.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

const groupOf = (
  key: string,
  calls: number,
  failedCalls: number,
  totalTokens: number | null,
): ReportGroup => ({
  group: { key },
  totals: { ...new UsageAccumulator().metrics(), calls, failedCalls, totalTokens },
  points: [],
})

test('the first groups are those with the most of what is asked for', () => {
  const groups = [groupOf('a', 9, 0, null), groupOf('b', 5, 3, 3_000_000_000), groupOf('c', 5, 1, 7)]
  const keys = (order: GroupOrder, count: number) =>
    topGroups(groups, order, count).map(({ group }) => group.key)
  expect(keys('calls', 2)).toEqual(['a', 'b'])
  expect(keys('failed_calls', 3)).toEqual(['b', 'c', 'a'])
  expect(keys('total_tokens', 2)).toEqual(['b', 'c'])
  expect(keys('calls', 100)).toEqual(['a', 'b', 'c'])
})
