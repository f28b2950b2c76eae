import type { UsageUpdatedSubscription } from '../../generated/graphql.ts'

export type LiveUsage = NonNullable<UsageUpdatedSubscription['usageUpdated']>

interface Counts {
  readonly calls: number
  readonly failedCalls: number
  readonly totalTokens: number | null
}

/**
 * The counts of a report with what has been counted since it was read: `base` is the live usage of that time. Live usage
 * begins anew at midnight UTC; from then on all of it is new.
 */
export function addLive<Totals extends Counts>(
  totals: Totals,
  base: LiveUsage | undefined,
  live: LiveUsage | undefined,
): Totals {
  if (base === undefined || live === undefined) return totals
  const before = base.day === live.day ? base.totals : NOTHING
  const tokens = (live.totals.totalTokens ?? 0) - (before.totalTokens ?? 0)
  return {
    ...totals,
    calls: totals.calls + live.totals.calls - before.calls,
    failedCalls: totals.failedCalls + live.totals.failedCalls - before.failedCalls,
    totalTokens: totals.totalTokens === null && tokens === 0 ? null : (totals.totalTokens ?? 0) + tokens,
  }
}

const NOTHING: Counts = { calls: 0, failedCalls: 0, totalTokens: null }
