import { refuseField } from '#core/base/errors/errors.ts'
import { oneOf } from '#core/reports/query-fields.ts'
import { daysBefore, HOUR_MS, startOf, startOfNext, type Zone } from '#core/reports/range/calendar.ts'
import { type RangeInput, rangeOf, requireBefore } from '#core/reports/range/range-input.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { parseRefusalConditions, type RefusalConditionsInput } from './refusals-query.ts'

/** The length of the buckets in which refusals are counted. They are stored by the minute. */
export const COUNT_SPANS = ['minute', 'hour', 'day'] as const
export type CountSpan = (typeof COUNT_SPANS)[number]

/** A query for counts of refusals as the faces receive it, before any check. */
export interface RefusalCountsInput extends RefusalConditionsInput, RangeInput {
  readonly per?: string | undefined
}

/** The minutes of one bucket that lie in the range. */
export interface Bucket {
  /** The start of the bucket, under which the counts of its minutes are added up. */
  readonly start: Date
  readonly from: Date
  readonly to: Date
}

export interface RefusalCountsQuery extends RefusalConditionsInput {
  /** In order and without gaps. */
  readonly buckets: readonly Bucket[]
}

/** @throws Problem `invalid_request` with all mistakes */
export function parseRefusalCountsQuery(input: RefusalCountsInput, now: Date): RefusalCountsQuery {
  const { conditions, range, per } = allOf({
    conditions: () => parseRefusalConditions(input),
    range: () => properRangeOf(input),
    per: () => oneOf('per', COUNT_SPANS, input.per ?? 'hour'),
  })
  const to = endOfMinute(range.to ?? now)
  const from = startOfMinute(range.from ?? defaultStart(to, per, range.zone))
  requireBefore(from, to)
  return { ...conditions, buckets: bucketsOf(from, to, per, range.zone) }
}

function properRangeOf(input: RangeInput) {
  const range = rangeOf(input)
  if (range.from !== undefined && range.to !== undefined) requireBefore(range.from, range.to)
  return range
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * HOUR_MS

function startOfMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS)
}

function endOfMinute(at: Date): Date {
  return new Date(Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS)
}

/** The default range: the last hour by minutes, the last day by hours, the last 30 days by days. */
function defaultStart(to: Date, per: CountSpan, zone: Zone): Date {
  switch (per) {
    case 'minute':
      return new Date(to.getTime() - HOUR_MS)
    case 'hour':
      return new Date(to.getTime() - DAY_MS)
    case 'day':
      return daysBefore(to, 30, zone)
  }
}

/** More than the hours for which counts are kept. */
const BUCKETS_MAX = 2_000

/** The first and the last bucket have only what lies within the range, and the first one then starts with the range. */
function bucketsOf(from: Date, to: Date, per: CountSpan, zone: Zone): Bucket[] {
  if (per === 'minute' && to.getTime() - from.getTime() > DAY_MS) {
    refuseField(['from'], 'expected a range of at most a day where refusals are counted by the minute.')
  }
  const buckets: Bucket[] = []
  for (let start = from; start < to; ) {
    if (buckets.length === BUCKETS_MAX) {
      refuseField(['from'], `expected a range of at most ${BUCKETS_MAX} hours or days.`)
    }
    const next = nextStart(start, per, zone)
    const end = next < to ? next : to
    buckets.push({ start, from: start, to: end })
    start = end
  }
  return buckets
}

function nextStart(at: Date, per: CountSpan, zone: Zone): Date {
  return per === 'minute'
    ? new Date(at.getTime() + MINUTE_MS)
    : startOfNext(startOf(at, per, zone), per, zone)
}
