import { describe, expect, it } from 'vitest'
import { bucketsBefore, linkOfSeries, recordsOf } from '../../charts/chart-data.ts'
import { chartOf, type Report, type SeriesNames, type Ways } from './usage-series.ts'

const times = (p50: number) => ({ p50, p95: p50 * 2, p99: p50 * 3 })

function report(given: Partial<Report>): Report {
  const points = [
    { start: '2026-11-21', calls: 5, failedCalls: 1, durationMs: times(10) },
    { start: '2026-11-22', calls: 9, failedCalls: 0, durationMs: null },
  ]
  const totals = { durationMs: times(10) }
  return {
    granularity: 'DAY',
    timezone: 'UTC',
    groupBy: [],
    groupCount: 1,
    totals,
    points,
    ...given,
  } as Report
}

const NAMELESS = {
  agentId: null,
  appId: null,
  model: null,
  keyId: null,
  ownerId: null,
  endUser: null,
  outcome: null,
}

const GROUPED = report({
  groupBy: ['AGENT'],
  groupCount: 3,
  drawn: [
    { ...NAMELESS, agentId: 'dify', points: [{ calls: 3, durationMs: times(20) }, { calls: 4 }] },
    { ...NAMELESS, agentId: '', points: [{ calls: 1 }, { calls: 4 }] },
  ] as never,
})

const names = (...drawn: string[]): SeriesNames => ({
  drawn,
  others: 'Others',
  before: (name = 'sum') => `${name} before`,
})

const WAYS: Ways = { common: {}, toGroups: { to: '/usage', search: { table: 'groups' } } }

describe('chartOf', () => {
  it('stacks the groups up to the sum', () => {
    const { kind, series } = chartOf(GROUPED, 'calls', names('Dify', 'Coze'), WAYS)
    expect(kind).toBe('bars')
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['Dify', [3, 4]],
      ['Coze', [1, 4]],
      ['Others', [1, 1]],
    ])
  })

  it('has no layer for others where every group is drawn', () => {
    expect(chartOf({ ...GROUPED, groupCount: 2 }, 'calls', names('Dify', 'Coze'), WAYS).series).toHaveLength(
      2,
    )
  })

  it('draws three percentiles, or the 95th of each group', () => {
    expect(
      chartOf(report({}), 'duration', names(), WAYS).series.map(({ name, values }) => [name, values]),
    ).toEqual([
      ['p50', [10, null]],
      ['p95', [20, null]],
      ['p99', [30, null]],
    ])
    const [dify] = chartOf(GROUPED, 'duration', names('Dify', 'Coze'), WAYS).series
    expect(dify).toMatchObject({ name: 'Dify', values: [40, null] })
  })

  it('shows one layer without groups', () => {
    expect(chartOf(report({}), 'failures', names('Failures'), WAYS).series).toMatchObject([
      { values: [1, 0] },
    ])
  })

  it('draws the sum of the period before as one dashed line, and its percentiles as three', () => {
    const previous = {
      to: '2026-11-20',
      totals: { durationMs: times(6) },
      points: [{ start: '2026-11-19', calls: 4, durationMs: times(5) }],
    } as never
    const { before } = chartOf({ ...GROUPED, previous }, 'calls', names('Dify', 'Coze'), WAYS)
    expect(before).toMatchObject({
      starts: ['2026-11-19'],
      series: [{ name: 'sum before', values: [4], isDashed: true }],
    })
    const ofTimes = chartOf(report({ previous }), 'duration', names(), WAYS).before
    expect(ofTimes?.end).toBe('2026-11-20')
    expect(ofTimes?.series.map(({ name, values }) => [name, values])).toEqual([
      ['p50 before', [5]],
      ['p95 before', [10]],
      ['p99 before', [15]],
    ])
  })

  it('leads from a series to its calls, and not from those that no list has', () => {
    const { series, linkTo } = chartOf(GROUPED, 'failures', names('Dify', 'Coze'), {
      ...WAYS,
      common: { key: 'k' },
    })
    const filters = series.map(({ filterOf }) => filterOf?.(1))
    expect(filters).toEqual([{ agent: 'dify' }, undefined, undefined])
    // The list of all groups has the others.
    expect(series.map(({ link }) => link)).toEqual([undefined, undefined, WAYS.toGroups])
    expect(linkTo('a', 'b', filters[0])).toEqual({
      to: '/calls',
      search: { key: 'k', agent: 'dify', outcome: 'FAILED', from: 'a', to: 'b' },
    })
  })

  it('leads from a percentile to the calls that took at least as long, in all of the time or in one bucket', () => {
    const data = chartOf(report({ to: '2026-11-23' }), 'duration', names(), WAYS)
    const [, p95] = data.series
    if (p95 === undefined) throw new Error('there are three percentiles')
    expect(linkOfSeries(data, p95)?.search).toEqual({ ms: 20, from: '2026-11-21', to: '2026-11-23' })
    expect(recordsOf(data, p95, 0)?.search).toEqual({ ms: 20, from: '2026-11-21', to: '2026-11-22' })
    expect(recordsOf(data, p95, 1)).toBeUndefined()
  })

  it('leads from the period before to its own calls', () => {
    const previous = {
      to: '2026-11-21',
      points: [{ start: '2026-11-19', calls: 4 }],
    } as never
    const data = chartOf(report({ previous }), 'calls', names('Calls'), WAYS)
    const [before] = data.before?.series ?? []
    if (before === undefined) throw new Error('there is a period before')
    expect(linkOfSeries(bucketsBefore(data), before)?.search).toEqual({
      from: '2026-11-19',
      to: '2026-11-21',
    })
  })
})
