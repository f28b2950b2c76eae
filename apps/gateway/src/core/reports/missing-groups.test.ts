import { expect, test } from 'vitest'
import { withMissingGroups } from './missing-groups.ts'
import { POINTS_MAX } from './report-source.ts'
import type { Report, ReportGroup } from './reports.ts'
import { UsageAccumulator } from './usage-accumulator.ts'

const NOTHING = new UsageAccumulator().metrics()

function report(keys: readonly string[], starts: number, calls: number): Report {
  const points = Array.from({ length: starts }, (_, place) => ({ start: new Date(place), ...NOTHING }))
  const groups = keys.map((key): ReportGroup => ({ group: { key }, totals: { ...NOTHING, calls }, points }))
  return { groupBy: ['key'], points, groups } as unknown as Report
}

test('a report has the groups of the one that it is compared with, without calls and with its own times', () => {
  const { groups } = withMissingGroups(report(['a'], 2, 3), report(['b', 'a', 'c'], 1, 5))
  expect(groups.map(({ group, totals, points }) => [group.key, totals.calls, points.length])).toEqual([
    ['a', 3, 2],
    ['b', 0, 2],
    ['c', 0, 2],
  ])
})

test('many groups of a short time do not become too many points of a long one', () => {
  const keys = Array.from({ length: 101 }, (_, place) => `key ${place}`)
  const others = report(keys, 1, 1)
  expect(withMissingGroups(report([], POINTS_MAX / 101, 1), others).groups).toHaveLength(101)
  expect(() => withMissingGroups(report([], POINTS_MAX / 100, 1), others)).toThrow(
    expect.objectContaining({ reason: 'invalid_request', field: ['groupBy'] }),
  )
})
