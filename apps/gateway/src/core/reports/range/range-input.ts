import { refuseField } from '#core/base/errors/errors.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { parseDate, parseTimestamp } from '#core/requests/input/timestamp.ts'
import { startOfDate, timeZone, UTC, type Zone } from './calendar.ts'

/** The range of a query as the faces receive it. */
export interface RangeInput {
  /** ISO 8601 with a zone, or a date, which stands for the start of that day in `timezone`. */
  readonly from?: string | Date | undefined
  /** The end of the range, exclusive, in the same forms. */
  readonly to?: string | Date | undefined
  /** The IANA name of a time zone; UTC by default. */
  readonly timezone?: string | undefined
}

export interface Range {
  readonly zone: Zone
  readonly from: Date | undefined
  readonly to: Date | undefined
}

/** @throws Problem `invalid_request` with all mistakes */
export function rangeOf({ from, to, timezone }: RangeInput): Range {
  // Times are checked also where the zone is wrong.
  let zone = UTC
  const times = allOf({
    timezone() {
      zone = timeZone(timezone ?? 'UTC')
    },
    from: () => ifGiven(from, (time) => timeOf('from', time, zone)),
    to: () => ifGiven(to, (time) => timeOf('to', time, zone)),
  })
  return { zone, from: times.from, to: times.to }
}

/**
 * Parses a time, unless the face has already parsed it.
 *
 * @throws Problem `invalid_request`
 */
export function timeOf(field: string, value: string | Date, zone: Zone): Date {
  if (value instanceof Date) return value
  const day = parseDate(value)
  const time = day === undefined ? parseTimestamp(value) : startOfDate(day, zone)
  return time ?? refuseField([field], `expected an ISO 8601 time with a zone, or a date, from 1970 on.`)
}

/**
 * The range of a list of records.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function orderedRangeOf(input: RangeInput): Pick<Range, 'from' | 'to'> {
  const { from, to } = rangeOf(input)
  requireOrder(from, to)
  return { from, to }
}

/**
 * Refuses a range that ends before it begins, which can only be a mistake. An empty range is valid: a program that reads the
 * ledger from the end of its last range on may ask twice in the same millisecond.
 *
 * @throws Problem `invalid_request`
 */
function requireOrder(from: Date | undefined, to: Date | undefined): void {
  if (from !== undefined && to !== undefined && from > to) {
    refuseField(['from'], (nameOf) => `expected a time that is not after ${nameOf(['to'])}.`)
  }
}

/** @throws Problem `invalid_request` for a range that is empty or ends before it begins */
export function requireBefore(from: Date, to: Date): void {
  if (from >= to) refuseField(['from'], (nameOf) => `expected a time before ${nameOf(['to'])}.`)
}
