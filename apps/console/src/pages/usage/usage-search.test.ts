import { describe, expect, it } from 'vitest'
import { granularitiesOf, groupsOf, rangeOf, usageSearch } from './usage-search.ts'

const NOW = new Date('2026-11-22T15:30:00Z')

describe('the address of the usage page', () => {
  it('shows the last 30 days by default', () => {
    expect(usageSearch({ zone: 'UTC' }, NOW)).toEqual({
      range: '30d',
      zone: 'UTC',
      by: 'day',
      group: '',
      show: 'calls',
      percentile: 'p50',
      table: 'groups',
    })
  })

  it('prefers times to a preset, with buckets that fit them', () => {
    const times = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }
    expect(usageSearch({ ...times, range: '7d', zone: 'UTC' }, NOW)).toMatchObject({ ...times, by: 'hour' })
    expect(usageSearch({ ...times, range: '7d', zone: 'UTC' }, NOW).range).toBeUndefined()
  })

  it('does not take what the gateway would refuse', () => {
    const search = usageSearch(
      { from: 'soon', to: 'later', by: 'week', zone: 'Asia/Kolkata', group: 'moon', show: 3, agent: 5 },
      NOW,
    )
    expect(search).toMatchObject({ range: '30d', by: 'day', group: '', show: 'calls' })
    expect(search.zone).not.toBe('Asia/Kolkata')
    expect(search).not.toHaveProperty('agent')
    expect(usageSearch({ range: '12m', by: 'hour', zone: 'UTC' }, NOW).by).toBe('month')
  })

  it('keeps what it has returned', () => {
    const search = usageSearch(
      { range: '7d', by: 'hour', group: 'agent,outcome', agent: 'dify', zone: 'UTC' },
      NOW,
    )
    expect(usageSearch({ ...search }, NOW)).toEqual(search)
  })
})

it('a preset begins with the days and months of the zone', () => {
  expect(rangeOf({ range: '7d' }, 'Asia/Shanghai', NOW)[0]).toEqual(new Date('2026-11-15T16:00:00Z'))
  expect(rangeOf({ range: '12m' }, 'UTC', NOW)[0]).toEqual(new Date('2025-12-01T00:00:00Z'))
})

it('a report by app is grouped by agent as well', () => {
  expect(groupsOf('app')).toEqual(['agent', 'app'])
  expect(groupsOf('outcome,agent')).toEqual(['agent', 'outcome'])
})

it('the controls offer no granularity with more buckets than a response may have', () => {
  const from = new Date('2020-01-01T00:00:00Z')
  expect(granularitiesOf(from, new Date('2020-01-31T00:00:00Z'))).toEqual(['hour', 'day', 'month'])
  expect(granularitiesOf(from, new Date('2021-01-01T00:00:00Z'))).toEqual(['day', 'month'])
  expect(granularitiesOf(from, NOW)).toEqual(['month'])
})
