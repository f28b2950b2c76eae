import { describe, expect, it } from 'vitest'
import { bucketsBefore, linkOfSeries, recordsOf } from '../../charts/chart-data.ts'
import type { UsageSearch } from './usage-search.ts'
import { chartOf, comparable, type Report, type SeriesNames, type Ways } from './usage-series.ts'

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
  before: 'before',
})

const shown = (show: UsageSearch['show'], percentile: UsageSearch['percentile'] = 'p50') => ({
  show,
  percentile,
})

const WAYS: Ways = { common: {}, toGroups: { to: '/usage', search: { table: 'groups' } } }

describe('chartOf', () => {
  it('stacks the groups up to the sum', () => {
    const { kind, series } = chartOf(GROUPED, shown('calls'), names('Dify', 'Coze'), WAYS)
    expect(kind).toBe('bars')
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['Dify', [3, 4]],
      ['Coze', [1, 4]],
      ['Others', [1, 1]],
    ])
  })

  it('has no layer for others where every group is drawn', () => {
    expect(
      chartOf({ ...GROUPED, groupCount: 2 }, shown('calls'), names('Dify', 'Coze'), WAYS).series,
    ).toHaveLength(2)
  })

  it('draws one percentile of all calls, or of each group', () => {
    expect(chartOf(report({}), shown('duration', 'p99'), names('p99'), WAYS).series).toMatchObject([
      { name: 'p99', values: [30, null] },
    ])
    const [dify] = chartOf(GROUPED, shown('duration', 'p95'), names('Dify', 'Coze'), WAYS).series
    expect(dify).toMatchObject({ name: 'Dify', values: [40, null] })
  })

  it('shows one layer without groups', () => {
    expect(chartOf(report({}), shown('failures'), names('Failures'), WAYS).series).toMatchObject([
      { values: [1, 0] },
    ])
  })

  it('draws the sum of the period before as bars, and its percentile as a dashed line', () => {
    const previous = {
      to: '2026-11-20',
      totals: { durationMs: times(6) },
      points: [{ start: '2026-11-19', calls: 4, durationMs: times(5) }],
    } as never
    const { before } = chartOf({ ...GROUPED, previous }, shown('calls'), names('Dify', 'Coze'), WAYS)
    expect(before).toMatchObject({
      starts: ['2026-11-19'],
      end: '2026-11-20',
      series: [{ name: 'before', values: [4], isDashed: false }],
    })
    const ofTimes = chartOf(report({ previous }), shown('duration', 'p95'), names(), WAYS).before
    expect(ofTimes?.series).toMatchObject([{ name: 'before', values: [10], isDashed: true }])
    expect(chartOf({ ...GROUPED, previous }, shown('duration'), names('Dify'), WAYS).before).toBeUndefined()
  })

  it('draws nothing of a period before in which there is nothing to compare with', () => {
    const previous = {
      points: [{ start: '2026-11-19', calls: 4, failedCalls: 0 }],
      totals: { calls: 4 },
    } as never
    expect(chartOf(report({ previous }), shown('failures'), names(), WAYS).before).toBeUndefined()
    const none = { points: [], totals: { calls: 0 } } as never
    expect(comparable({ usage: report({ previous: none }) })?.previous).toBeNull()
    expect(comparable({ usage: report({ previous }) })?.previous).toBe(previous)
  })

  it('leads from a series to its calls, and not from those that no list has', () => {
    const { series, linkTo } = chartOf(GROUPED, shown('failures'), names('Dify', 'Coze'), {
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
    const data = chartOf(report({ to: '2026-11-23' }), shown('duration', 'p95'), names('p95'), WAYS)
    const [p95] = data.series
    if (p95 === undefined) throw new Error('there is a line')
    expect(linkOfSeries(data, p95)?.search).toEqual({ ms: 20, from: '2026-11-21', to: '2026-11-23' })
    expect(recordsOf(data, p95, 0)?.search).toEqual({ ms: 20, from: '2026-11-21', to: '2026-11-22' })
    expect(recordsOf(data, p95, 1)).toBeUndefined()
  })

  it('leads from the period before to its own calls', () => {
    const previous = {
      to: '2026-11-21',
      totals: {},
      points: [{ start: '2026-11-19', calls: 4 }],
    } as never
    const data = chartOf(report({ previous }), shown('calls'), names('Calls'), WAYS)
    const [before] = data.before?.series ?? []
    if (before === undefined) throw new Error('there is a period before')
    expect(linkOfSeries(bucketsBefore(data), before)?.search).toEqual({
      from: '2026-11-19',
      to: '2026-11-21',
    })
  })
})
