import { describe, expect, it } from 'vitest'
import { chartOf, type Report, type SeriesNames } from './usage-series.ts'

const times = (p50: number) => ({ p50, p95: p50 * 2, p99: p50 * 3 })

function report(given: Partial<Report>): Report {
  const points = [
    { start: '2026-11-21', calls: 5, failedCalls: 1, durationMs: times(10) },
    { start: '2026-11-22', calls: 9, failedCalls: 0, durationMs: null },
  ]
  return { granularity: 'DAY', timezone: 'UTC', groupBy: [], groupCount: 1, points, ...given } as Report
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

describe('chartOf', () => {
  it('stacks the groups up to the sum', () => {
    const { kind, series } = chartOf(GROUPED, 'calls', names('Dify', 'Coze'), {})
    expect(kind).toBe('bars')
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['Dify', [3, 4]],
      ['Coze', [1, 4]],
      ['Others', [1, 1]],
    ])
  })

  it('has no layer for others where every group is drawn', () => {
    expect(chartOf({ ...GROUPED, groupCount: 2 }, 'calls', names('Dify', 'Coze'), {}).series).toHaveLength(2)
  })

  it('draws three percentiles, or the 95th of each group', () => {
    expect(
      chartOf(report({}), 'duration', names(), {}).series.map(({ name, values }) => [name, values]),
    ).toEqual([
      ['p50', [10, null]],
      ['p95', [20, null]],
      ['p99', [30, null]],
    ])
    const [dify] = chartOf(GROUPED, 'duration', names('Dify', 'Coze'), {}).series
    expect(dify).toMatchObject({ name: 'Dify', values: [40, null] })
  })

  it('shows one layer without groups', () => {
    expect(chartOf(report({}), 'failures', names('Failures'), {}).series).toMatchObject([{ values: [1, 0] }])
  })

  it('draws the sum of the period before as one dashed line, and its percentiles as three', () => {
    const previous = { points: [{ start: '2026-11-19', calls: 4, durationMs: times(5) }] } as never
    const { before } = chartOf({ ...GROUPED, previous }, 'calls', names('Dify', 'Coze'), {})
    expect(before).toMatchObject({
      starts: ['2026-11-19'],
      series: [{ name: 'sum before', values: [4], isDashed: true }],
    })
    const ofTimes = chartOf(report({ previous }), 'duration', names(), {}).before
    expect(ofTimes?.series.map(({ name, values }) => [name, values])).toEqual([
      ['p50 before', [5]],
      ['p95 before', [10]],
      ['p99 before', [15]],
    ])
  })

  it('leads from a series to its calls, and not from those that no list has', () => {
    const { series, linkTo } = chartOf(GROUPED, 'failures', names('Dify', 'Coze'), { key: 'k' })
    expect(series.map(({ filter }) => filter)).toEqual([{ agent: 'dify' }, undefined, undefined])
    expect(linkTo('a', 'b', series[0]?.filter)).toEqual({
      to: '/calls',
      search: { key: 'k', agent: 'dify', outcome: 'FAILED', from: 'a', to: 'b' },
    })
  })
})
