import { describe, expect, it } from 'vitest'
import { chartOf, type Report } from './usage-series.ts'

const times = (p50: number) => ({ p50, p95: p50 * 2, p99: p50 * 3 })

function report(given: Partial<Report>): Report {
  const points = [
    { start: '2026-11-21', calls: 5, failedCalls: 1, durationMs: times(10) },
    { start: '2026-11-22', calls: 9, failedCalls: 0, durationMs: null },
  ]
  return { granularity: 'DAY', timezone: 'UTC', groupBy: [], groupCount: 1, points, ...given } as Report
}

const GROUPED = report({
  groupBy: ['AGENT'],
  groupCount: 3,
  drawn: [
    { points: [{ calls: 3, durationMs: times(20) }, { calls: 4 }] },
    { points: [{ calls: 1 }, { calls: 4 }] },
  ] as never,
})

describe('chartOf', () => {
  it('stacks the groups up to the sum', () => {
    const { kind, series } = chartOf(GROUPED, 'calls', ['Dify', 'Coze'], 'Others')
    expect(kind).toBe('bars')
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['Dify', [3, 4]],
      ['Coze', [1, 4]],
      ['Others', [1, 1]],
    ])
  })

  it('has no layer for others where every group is drawn', () => {
    expect(chartOf({ ...GROUPED, groupCount: 2 }, 'calls', ['Dify', 'Coze'], 'Others').series).toHaveLength(2)
  })

  it('draws three percentiles, or the 95th of each group', () => {
    expect(chartOf(report({}), 'duration', [], '').series.map(({ name, values }) => [name, values])).toEqual([
      ['p50', [10, null]],
      ['p95', [20, null]],
      ['p99', [30, null]],
    ])
    const [dify] = chartOf(GROUPED, 'duration', ['Dify', 'Coze'], 'Others').series
    expect(dify).toMatchObject({ name: 'Dify', values: [40, null] })
  })

  it('shows one layer without groups', () => {
    expect(chartOf(report({}), 'failures', ['Failures'], '').series).toMatchObject([{ values: [1, 0] }])
  })
})
