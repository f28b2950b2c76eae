import { refuseField } from '#core/errors.ts'
import { AGENT_LENGTH_MAX, oneOf, textOf, timeOf } from './query-fields.ts'
import { GRANULARITIES, type Granularity } from './report-range.ts'
import { GROUPS, type Group } from './report-rows.ts'
import type { ScopeFilter } from './scope.ts'

/** A query for a report as the faces receive it, before any check and with every field optional. */
export interface ReportInput extends ScopeFilter {
  /** ISO 8601 with a zone, or a date, which begins at midnight UTC. */
  readonly from?: string | Date | undefined
  /** The end of the range, exclusive. */
  readonly to?: string | Date | undefined
  /** The IANA name of a time zone whose offset is a whole number of hours. */
  readonly timezone?: string | undefined
  readonly granularity?: string | undefined
  /** Names of {@link GROUPS}; duplicates are ignored. */
  readonly groupBy?: readonly string[] | undefined
  readonly agent?: string | undefined
}

export interface ReportQuery extends ScopeFilter {
  readonly from: Date
  readonly to: Date
  readonly timezone: string
  readonly granularity: Granularity
  readonly groupBy: readonly Group[]
  readonly agent?: string | undefined
}

const DAY_MS = 86_400_000

/** The length of the default range: the last day by hours, the last 30 days by days, the last year by months. */
const DEFAULT_DAYS: Record<Granularity, number> = { hour: 1, day: 30, month: 365 }

/**
 * Checks the query for a report and fills in the defaults. The time zone and the length of the range are checked where the
 * range is split into buckets (report-range.ts).
 *
 * @throws Problem `invalid_request`
 */
export function parseReportQuery(input: ReportInput, now: Date): ReportQuery {
  const { from, to, timezone = 'UTC', agent, keyId, userId } = input
  const granularity = oneOf('granularity', GRANULARITIES, input.granularity ?? 'day')
  const groupBy = groupsOf(input.groupBy ?? [])
  const end = to === undefined ? now : timeOf('to', to)
  const start =
    from === undefined ? new Date(end.getTime() - DEFAULT_DAYS[granularity] * DAY_MS) : timeOf('from', from)
  return {
    from: start,
    to: end,
    timezone,
    granularity,
    groupBy,
    keyId,
    userId,
    agent: agent === undefined ? undefined : textOf('agent', agent, AGENT_LENGTH_MAX),
  }
}

function groupsOf(names: readonly string[]): readonly Group[] {
  const groups = names.map(
    (name) =>
      GROUPS.find((group) => group === name.trim()) ??
      refuseField(['groupBy'], `expected a list of ${GROUPS.join(', ')}.`),
  )
  return [...new Set(groups)]
}
