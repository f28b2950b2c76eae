import { PERCENTILES, type Percentile } from '../../charts/chart-data.ts'
import type { OverviewBeforeQueryVariables, OverviewQueryVariables } from '../../generated/graphql.ts'
import { sameTime, startOfDay } from '../../report/zone.ts'

export const OVERVIEW_RANGES = ['today', '7d', '30d'] as const
export type OverviewRange = (typeof OVERVIEW_RANGES)[number]

export interface OverviewSearch {
  readonly range: OverviewRange
  /** Of the times in the chart. */
  readonly percentile: Percentile
}

/** What the address says; today and the median where it says nothing. */
export function overviewSearch(input: { readonly [Name in keyof OverviewSearch]?: unknown }): OverviewSearch {
  return {
    range: OVERVIEW_RANGES.find((one) => one === input.range) ?? 'today',
    percentile: PERCENTILES.find((one) => one === input.percentile) ?? 'p50',
  }
}

const DAYS: Record<OverviewRange, number> = { today: 1, '7d': 7, '30d': 30 }
const HOUR_MS = 3_600_000

interface OverviewQueries {
  readonly report: OverviewQueryVariables
  readonly before: OverviewBeforeQueryVariables
}

/**
 * The report of a range that ends with this hour, and that of as many days before. The day that has just begun is compared
 * with the same hours, and not with a whole day; over 30 days that makes no difference, and whole days are read faster.
 */
export function overviewQueries(range: OverviewRange, zone: string, now: Date): OverviewQueries {
  const days = DAYS[range]
  const from = startOfDay(now, zone, 1 - days)
  const end = new Date((Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS)
  const isByDay = range === '30d'
  return {
    report: { from: from.toISOString(), granularity: range === 'today' ? 'HOUR' : 'DAY', timezone: zone },
    before: {
      from: startOfDay(now, zone, 1 - 2 * days).toISOString(),
      to: (isByDay ? from : sameTime(end, zone, -days)).toISOString(),
      granularity: isByDay ? 'DAY' : 'HOUR',
      timezone: zone,
    },
  }
}
