import type { ChartSeries } from './chart-data.ts'

/** What is counted of a bucket; absent where it was not asked for. */
export interface CountedCalls {
  readonly calls?: number
  readonly failedCalls?: number
}

/** The calls of each bucket, and how many of them failed. */
export function callsSeries(
  points: readonly CountedCalls[],
  names: Readonly<Record<'completed' | 'failed', string>>,
): ChartSeries[] {
  return [
    {
      name: names.completed,
      values: points.map(({ calls = 0, failedCalls = 0 }) => calls - failedCalls),
      colour: '--series-1',
      filterOf: () => ({ outcome: 'NOT_FAILED' }),
    },
    {
      name: names.failed,
      values: points.map(({ failedCalls = 0 }) => failedCalls),
      colour: '--danger',
      filterOf: () => ({ outcome: 'FAILED' }),
    },
  ]
}
