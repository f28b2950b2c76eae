import { expect, test } from 'vitest'
import { recordsIn } from '../../charts/chart-data.ts'
import { bucketsOf, endOf } from './count-buckets.ts'
import { chartOf, groupCounts, refusalsLink } from './count-groups.ts'
import type { CountRow } from './group-names.ts'

const HOURS = ['2026-11-22T08:00:00.000Z', '2026-11-22T09:00:00.000Z'] as const

function rowOf(count: number, more: Partial<CountRow> = {}): CountRow {
  return {
    start: HOURS[0],
    keyId: 'k-1',
    key: null,
    ownerId: 'u-1',
    owner: null,
    agentId: 'dify',
    reason: 'rate_limited',
    limit: 'chat',
    count,
    ...more,
  }
}

test('what is equal in the chosen properties is one group, those with the most first', () => {
  const rows = [rowOf(2), rowOf(3, { agentId: 'coze', start: HOURS[1] }), rowOf(9, { keyId: 'k-2' })]
  const groups = groupCounts(rows, ['key', 'reason'])
  expect(groups.map(({ row, count, last }) => [row.keyId, count, last])).toEqual([
    ['k-2', 9, HOURS[0]],
    ['k-1', 5, HOURS[1]],
  ])
  expect([...(groups[1]?.byStart ?? [])]).toEqual([
    [HOURS[0], 2],
    [HOURS[1], 3],
  ])
  expect(groupCounts(rows, []).map(({ count }) => count)).toEqual([14])
})

test('logins of different users are different groups, and so are unknown credentials', () => {
  const rows = [rowOf(1, { keyId: null }), rowOf(1, { keyId: null, ownerId: 'u-2' })]
  expect(groupCounts([...rows, rowOf(1, { keyId: null, ownerId: null })], ['key'])).toHaveLength(3)
})

test('the chart has the seven groups with the most, and all others together', () => {
  const rows = Array.from({ length: 9 }, (_, place) => rowOf(10 - place, { keyId: `k-${place}` }))
  const chart = chartOf({
    groups: groupCounts(rows, ['key']),
    by: ['key'],
    starts: HOURS,
    end: '2026-11-22T10:00:00.000Z',
    linkTo: refusalsLink({ agent: 'dify' }, new Date('2026-11-23T09:30:00.000Z')),
    granularity: 'HOUR',
    zone: 'UTC',
    nameOf: ({ row }) => row.keyId ?? '',
    others: 'Others',
  })
  expect(chart.series.map(({ name, values }) => [name, ...values])).toEqual([
    ...['k-0', 'k-1', 'k-2', 'k-3', 'k-4', 'k-5', 'k-6'].map((name, place) => [name, 10 - place, 0]),
    ['Others', 3 + 2, 0],
  ])
  // Single refusals of the first hour are not kept any more.
  expect(recordsIn(chart, 0, chart.series[0]?.filterOf?.(1)).search).toMatchObject({
    key: 'k-0',
    show: 'counts',
  })
  const { search } = recordsIn(chart, 1, chart.series[7]?.filterOf?.(1))
  expect(search).toEqual({ agent: 'dify', from: HOURS[1], to: chart.end })
})

test('buckets are hours, of longer ranges days, the first of which begins with the range, as the gateway has them', () => {
  const now = new Date('2026-11-22T10:30:20.500Z')
  expect(bucketsOf({ from: '2026-11-22T07:40:20.500Z' }, now, 'UTC')).toEqual({
    granularity: 'HOUR',
    zone: 'UTC',
    starts: ['2026-11-22T07:40:00.000Z', ...HOURS, '2026-11-22T10:00:00.000Z'],
    end: now.toISOString(),
  })
  const hours = bucketsOf({ from: HOURS[0] }, now, 'UTC')
  expect(endOf(hours, HOURS[0])).toBe(HOURS[1])
  expect(endOf(hours, '2026-11-22T10:00:00.000Z')).toBe(now.toISOString())
  const days = bucketsOf({ from: '2026-11-02T12:00:00.000Z' }, now, 'Asia/Shanghai')
  expect(days.granularity).toBe('DAY')
  expect(days.starts.slice(0, 2)).toEqual(['2026-11-02T12:00:00.000Z', '2026-11-02T16:00:00.000Z'])
  expect(days.starts).toHaveLength(21)
  expect(bucketsOf({}, now, 'UTC').starts).toHaveLength(31)
})
