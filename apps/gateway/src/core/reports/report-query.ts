import { refuseField } from '#core/base/errors/errors.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import {
  type Conditions,
  type ConditionsInput,
  OUTCOME_WORDS,
  oneOf,
  parseConditions,
  statesOf,
} from './query-fields.ts'
import { daysBefore, GRANULARITIES, type Granularity } from './range/calendar.ts'
import { type RangeInput, rangeOf, requireBefore, timeOf } from './range/range-input.ts'
import { GROUPS, type Group } from './report-rows.ts'

/** A query for a report as the faces receive it, before any check and with every field optional. */
export interface ReportInput extends ConditionsInput, RangeInput {
  readonly granularity?: string | undefined
  /** Names of {@link GROUPS}; duplicates are ignored. */
  readonly groupBy?: readonly string[] | undefined
  /**
   * The period that the report is compared with; by default the one before it, which is as long. Without an end it is as long
   * as the report.
   */
  readonly compareFrom?: string | Date | undefined
  readonly compareTo?: string | Date | undefined
}

export interface ReportQuery extends Conditions {
  readonly from: Date
  readonly to: Date
  readonly timezone: string
  readonly granularity: Granularity
  readonly groupBy: readonly Group[]
  readonly outcome?: readonly CallOutcome[] | undefined
  readonly compared?: Period | undefined
}

interface Period {
  readonly from: Date
  readonly to: Date
}

/** The length of the default range: the last day by hours, the last 30 days by days, the last year by months. */
const DEFAULT_DAYS: Record<Granularity, number> = { hour: 1, day: 30, month: 365 }

/**
 * Checks the query for a report and fills in the defaults. The offset of the time zone and the length of the range are checked
 * where the range is split into buckets (range/report-range.ts).
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function parseReportQuery(input: ReportInput, now: Date): ReportQuery {
  const { timezone = 'UTC', outcome } = input
  const { range, compared, conditions, ...checked } = allOf({
    conditions: () => parseConditions(input),
    range: () => properRangeOf(input),
    compared: () => comparedRangeOf(input),
    granularity: () => oneOf('granularity', GRANULARITIES, input.granularity ?? 'day'),
    groupBy: () => groupsOf(input),
    outcome: () => ifGiven(outcome, (words) => statesOf(words, OUTCOME_WORDS)),
  })
  const to = range.to ?? now
  const from = range.from ?? daysBefore(to, DEFAULT_DAYS[checked.granularity], range.zone)
  return {
    ...conditions,
    ...checked,
    from,
    to,
    timezone,
    ...(compared !== undefined && {
      compared: {
        from: compared.from,
        to: compared.to ?? new Date(compared.from.getTime() + to.getTime() - from.getTime()),
      },
    }),
  }
}

function comparedRangeOf({ compareFrom, compareTo, timezone }: ReportInput) {
  if (compareFrom === undefined && compareTo === undefined) return undefined
  const { zone } = rangeOf({ timezone })
  const { from, to } = allOf({
    from: () => ifGiven(compareFrom, (time) => timeOf('compareFrom', time, zone)),
    to: () => ifGiven(compareTo, (time) => timeOf('compareTo', time, zone)),
  })
  if (from === undefined) {
    refuseField(['compareFrom'], (nameOf) => `expected a time, because ${nameOf(['compareTo'])} is given.`)
  }
  if (to !== undefined && from >= to) {
    refuseField(['compareFrom'], (nameOf) => `expected a time before ${nameOf(['compareTo'])}.`)
  }
  return { from, to }
}

function properRangeOf(input: RangeInput) {
  const range = rangeOf(input)
  if (range.from !== undefined && range.to !== undefined) requireBefore(range.from, range.to)
  return range
}

function groupsOf({ groupBy: names = [], agent }: ReportInput): readonly Group[] {
  const groups = names.map(
    (name) =>
      GROUPS.find((group) => group === name.trim()) ??
      refuseField(['groupBy'], `expected a list of ${GROUPS.join(', ')}.`),
  )
  if (groups.includes('conversation')) {
    if (groups.some((group) => group !== 'conversation')) {
      refuseField(['groupBy'], 'expected nothing beside conversation, which groups alone.')
    }
    if (agent === undefined) {
      refuseField(['agent'], (nameOf) => `expected an agent, because ${nameOf(['groupBy'])} is conversation.`)
    }
  }
  return [...new Set(groups)]
}
