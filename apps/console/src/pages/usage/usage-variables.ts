import type { UsageGroupBy, UsageReportQueryVariables } from '../../generated/graphql.ts'
import { periodBefore } from './period-before.ts'
import { groupsOf, type Metric, rangeOf, type UsageSearch } from './usage-search.ts'

const ORDERS = {
  calls: 'CALLS',
  failures: 'FAILED_CALLS',
  tokens: 'TOTAL_TOKENS',
  firstChunk: 'CALLS',
  duration: 'CALLS',
} as const satisfies Record<Metric, UsageReportQueryVariables['orderBy']>

/** The report for what stands in the address. Of the points it reads only what the chart shows. */
export function usageVariables(search: UsageSearch, now: Date): UsageReportQueryVariables {
  const { zone, by, group, show, agent, key, user, compare = false } = search
  const [from, to] = rangeOf(search, zone, now)
  const [compareFrom, compareTo] = periodBefore(search, now)
  const groupBy = groupsOf(group).map((name) => name.toUpperCase() as UsageGroupBy)
  return {
    filter: {
      from: from.toISOString(),
      // A range that goes on ends when the gateway reads it.
      ...((search.to !== undefined || to < now) && { to: to.toISOString() }),
      ...(agent !== undefined && { agentId: agent }),
      ...(key !== undefined && { keyId: key }),
      ...(user !== undefined && { ownerId: user }),
    },
    granularity: by.toUpperCase() as UsageReportQueryVariables['granularity'],
    groupBy,
    timezone: zone,
    orderBy: ORDERS[show],
    compare,
    ...(compare && { compareFrom: compareFrom.toISOString(), compareTo: compareTo.toISOString() }),
    isGrouped: groupBy.length > 0,
    withCalls: show === 'calls' || show === 'failures',
    withTokens: show === 'tokens',
    withFirstChunk: show === 'firstChunk',
    withDuration: show === 'duration',
  }
}
