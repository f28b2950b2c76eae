import { refuseField } from '#core/errors.ts'
import { parseDate, parseTimestamp } from '#core/input/timestamp.ts'
import { startOfDate, type Zone } from './calendar.ts'

/** The range of a query as the faces receive it. */
export interface RangeInput {
  /** ISO 8601 with a zone, or a date, which stands for the start of that day in `timezone`. */
  readonly from?: string | Date | undefined
  /** The end of the range, exclusive, in the same forms. */
  readonly to?: string | Date | undefined
  /** The IANA name of a time zone; UTC by default. */
  readonly timezone?: string | undefined
}

/**
 * Parses a time, unless the face has already parsed it.
 *
 * @throws Problem `invalid_request`
 */
export function timeOf(field: 'from' | 'to', value: string | Date, zone: Zone): Date {
  if (value instanceof Date) return value
  const day = parseDate(value)
  const time = day === undefined ? parseTimestamp(value) : startOfDate(day, zone)
  return time ?? refuseField([field], `expected an ISO 8601 time with a zone, or a date, from 1970 on.`)
}

/**
 * Refuses a range that ends before it begins, which can only be a mistake. An empty range is valid: a program that reads the
 * ledger from the end of its last range on may ask twice in the same millisecond.
 *
 * @throws Problem `invalid_request`
 */
export function requireOrder(from: Date | undefined, to: Date | undefined): void {
  if (from !== undefined && to !== undefined && from > to) {
    refuseField(['from'], (nameOf) => `expected a time that is not after ${nameOf(['to'])}.`)
  }
}
