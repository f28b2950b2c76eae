import { expect, it } from 'vitest'
import { overviewQueries, overviewSearch } from './overview-range.ts'

const NOW = new Date('2026-11-22T15:30:00Z')

it('the overview compares today with the same hours of yesterday', () => {
  expect(overviewQueries('today', 'UTC', NOW)).toEqual({
    report: { from: '2026-11-22T00:00:00.000Z', granularity: 'HOUR', timezone: 'UTC' },
    before: {
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-21T16:00:00.000Z',
      granularity: 'HOUR',
      timezone: 'UTC',
    },
  })
})

it('the overview begins days in the time zone, also in the last hour of a day', () => {
  const { report, before } = overviewQueries('7d', 'Asia/Shanghai', NOW)
  expect(report.from).toBe('2026-11-15T16:00:00.000Z')
  expect(before.from).toBe('2026-11-08T16:00:00.000Z')
  // 23:30 in Shanghai: the hour ends with the day.
  expect(before.to).toBe('2026-11-15T16:00:00.000Z')
})

it('the overview compares 30 days with whole days', () => {
  const { report, before } = overviewQueries('30d', 'UTC', NOW)
  expect(report.from).toBe('2026-10-24T00:00:00.000Z')
  expect(before).toMatchObject({ from: '2026-09-24T00:00:00.000Z', to: report.from, granularity: 'DAY' })
})

it('the overview takes a known range and percentile from the address', () => {
  expect(overviewSearch({ range: '7d', percentile: 'p95' })).toEqual({ range: '7d', percentile: 'p95' })
  expect(overviewSearch({ range: 'century', percentile: 'p42' })).toEqual({
    range: 'today',
    percentile: 'p50',
  })
})
