import { refuseField } from '#core/base/errors/errors.ts'
import { type Granularity, HOUR_MS, startOf, startOfNext, timeZoneOfWholeHours, UTC } from './calendar.ts'
import { requireBefore } from './range-input.ts'

/** A time range that rollups of one span cover exactly, and whose sums are added to a bucket of a report or subtracted. */
export interface Segment {
  /** The start of the bucket to which the sums belong. */
  readonly start: Date
  readonly sign: 1 | -1
  readonly span: Granularity
  readonly from: Date
  readonly to: Date
}

export interface ReportRange {
  readonly from: Date
  readonly to: Date
  /** The starts of the buckets, in order and without gaps. */
  readonly starts: readonly Date[]
  readonly segments: readonly Segment[]
}

export const BUCKETS_MAX = 2_000

/** From the year 10000 on, the ISO form has six digits, which PostgreSQL does not accept; the last month reaches into it. */
const LAST_MONTH_MS = Date.UTC(9_999, 11)

/**
 * Splits a range into the buckets of a time zone, and each bucket into the rollups that it consists of. Rollups are stored by
 * UTC hours: the range begins with the hour that contains `from` and ends with the one that `to` ends in, and zones whose
 * offset is not a whole number of hours are rejected. The first and the last bucket have only what lies within the range, and
 * the first one then starts with the range.
 *
 * @throws Problem `invalid_request`
 */
export function reportRange(from: Date, to: Date, timezone: string, granularity: Granularity): ReportRange {
  requireBefore(from, to)
  const zone = timeZoneOfWholeHours(timezone)
  const [first, end] = [startOf(from, 'hour', zone), endOfHour(to)]
  if (end.getTime() > LAST_MONTH_MS) refuseField(['to'], 'expected a time before December 9999.')
  const starts: Date[] = []
  const segments: Segment[] = []
  let bucket = startOf(first, granularity, zone)
  while (bucket < end) {
    if (starts.length === BUCKETS_MAX) {
      refuseField(['granularity'], `expected one that gives at most ${BUCKETS_MAX} buckets.`)
    }
    // Hours do not depend on the zone; it is called only because it rejects zones whose offset is not a whole hour.
    if (granularity === 'hour') zone(bucket)
    const next = startOfNext(bucket, granularity, zone)
    const start = latest(bucket, first)
    starts.push(start)
    for (const piece of cover(start, earliest(next, end), granularity)) segments.push({ start, ...piece })
    bucket = next
  }
  return { from: first, to: end, starts, segments }
}

/** The range of the same length that ends where this one begins. */
export function rangeBefore({ from, to }: Pick<ReportRange, 'from' | 'to'>): { from: Date; to: Date } {
  return { from: new Date(2 * from.getTime() - to.getTime()), to: from }
}

function latest(one: Date, other: Date): Date {
  return new Date(Math.max(one.getTime(), other.getTime()))
}

function earliest(one: Date, other: Date): Date {
  return new Date(Math.min(one.getTime(), other.getTime()))
}

function endOfHour(at: Date): Date {
  return new Date(Math.ceil(at.getTime() / HOUR_MS) * HOUR_MS)
}

type Piece = Omit<Segment, 'start'>

/** The difference between a range and the whole months nearest to it consists of days, and that between a range and whole days of hours. */
const FINER = { month: 'day', day: 'hour' } as const

/**
 * Covers a bucket with the UTC months or days that are nearest to it; the days and hours by which they differ are added or
 * subtracted. A month in Shanghai takes 1 rollup of a month and 16 of hours, where whole days inside it would take 29 and 24
 * of hours.
 */
function cover(from: Date, to: Date, granularity: Granularity): Piece[] {
  if (from >= to) return []
  if (granularity === 'hour') return [{ span: 'hour', sign: 1, from, to }]
  const [first, last] = [nearest(from, granularity), nearest(to, granularity)]
  const whole: Piece = { span: granularity, sign: 1, from: first, to: last }
  const finer = FINER[granularity]
  return [...edge(from, first, finer), ...(first < last ? [whole] : []), ...edge(last, to, finer)]
}

/** What lies between two times; it is subtracted if the second is the earlier one. */
function edge(from: Date, to: Date, granularity: Granularity): Piece[] {
  if (from <= to) return cover(from, to, granularity)
  return cover(to, from, granularity).map((piece) => ({ ...piece, sign: piece.sign === 1 ? -1 : 1 }))
}

function nearest(at: Date, granularity: Granularity): Date {
  const before = startOf(at, granularity, UTC)
  const after = startOfNext(before, granularity, UTC)
  return at.getTime() - before.getTime() < after.getTime() - at.getTime() ? before : after
}
