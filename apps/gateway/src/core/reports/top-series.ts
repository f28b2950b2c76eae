import type { Series } from './reports.ts'

export const SERIES_ORDERS = ['calls', 'failed_calls', 'total_tokens'] as const
export type SeriesOrder = (typeof SERIES_ORDERS)[number]

const AMOUNTS: Record<SeriesOrder, (totals: Series['totals']) => number> = {
  calls: ({ calls }) => calls,
  failed_calls: ({ failedCalls }) => failedCalls,
  total_tokens: ({ totalTokens }) => totalTokens ?? 0,
}

/** The series with the most of something. Those with the same amount keep the order of the report. */
export function topSeries(series: readonly Series[], order: SeriesOrder, count: number): readonly Series[] {
  const amount = AMOUNTS[order]
  // Reports are sorted by calls already.
  const sorted =
    order === 'calls' ? series : series.toSorted((one, other) => amount(other.totals) - amount(one.totals))
  return sorted.slice(0, count)
}
