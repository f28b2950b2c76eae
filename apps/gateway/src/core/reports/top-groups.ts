import type { ReportGroup } from './reports.ts'

export const GROUP_ORDERS = ['calls', 'failed_calls', 'total_tokens'] as const
export type GroupOrder = (typeof GROUP_ORDERS)[number]

const AMOUNTS: Record<GroupOrder, (totals: ReportGroup['totals']) => number> = {
  calls: ({ calls }) => calls,
  failed_calls: ({ failedCalls }) => failedCalls,
  total_tokens: ({ totalTokens }) => totalTokens ?? 0,
}

/** The groups with the most of something. Those with the same amount keep the order of the report. */
export function topGroups(
  groups: readonly ReportGroup[],
  order: GroupOrder,
  count: number,
): readonly ReportGroup[] {
  const amount = AMOUNTS[order]
  // Reports are sorted by calls already.
  const sorted =
    order === 'calls' ? groups : groups.toSorted((one, other) => amount(other.totals) - amount(one.totals))
  return sorted.slice(0, count)
}
