import type { AgentUsageQuery } from '../../generated/graphql.ts'

type Hour = NonNullable<AgentUsageQuery['usage']>['groups'][number]['points'][number]

/** How many of the latest calls have failed. */
export interface Failing {
  readonly calls: number
  readonly failedCalls: number
  /** The hour in which the first of them began. */
  readonly since: string
}

/** Fewer calls say nothing. */
const CALLS_MIN = 5
const SHARE_MIN = 0.9

/**
 * Undefined unless nearly all of the latest calls have failed: those of the hour that goes on or, where these are too few, of
 * the hour before as well. Reports know no shorter times.
 */
export function failingOf(hours: readonly Hour[]): Failing | undefined {
  for (const latest of [hours.slice(-1), hours.slice(-2)]) {
    const calls = latest.reduce((sum, hour) => sum + hour.calls, 0)
    const failedCalls = latest.reduce((sum, hour) => sum + hour.failedCalls, 0)
    const [first] = latest
    if (first === undefined || calls < CALLS_MIN) continue
    return failedCalls / calls < SHARE_MIN ? undefined : { calls, failedCalls, since: first.start }
  }
  return undefined
}
