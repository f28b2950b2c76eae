import { refuseField } from '#core/errors.ts'

export const GRANULARITIES = ['hour', 'day', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

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

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const YEAR_10000_MS = Date.UTC(10_000, 0)
const ZONE_MINUTES = /^GMT(?:([+-])(\d{2}):(\d{2}))?/

/**
 * Splits a range into the buckets of a time zone, and each bucket into the rollups that it consists of. Rollups are stored
 * by UTC hours, so zones whose offset is not a whole number of hours are rejected.
 *
 * @throws Problem `invalid_request`
 */
export function reportRange(from: Date, to: Date, timezone: string, granularity: Granularity): ReportRange {
  if (from >= to) refuseField(['from'], (nameOf) => `expected a time before ${nameOf(['to'])}.`)
  const zone = zoneOf(timezone)
  const starts: Date[] = []
  const segments: Segment[] = []
  let end = floor(from, granularity, zone)
  while (end < to) {
    const start = end
    if (starts.length === BUCKETS_MAX) {
      refuseField(['granularity'], `expected one that gives at most ${BUCKETS_MAX} buckets.`)
    }
    // Hours do not depend on the zone; it is called only because it rejects zones whose offset is not a whole hour.
    if (granularity === 'hour') zone(start)
    end = next(start, granularity, zone)
    // The ISO form of later years has six digits, which PostgreSQL does not accept.
    if (end.getTime() >= YEAR_10000_MS) refuseField(['to'], 'expected a time before December 9999.')
    starts.push(start)
    segments.push(...cover(start, end, granularity).map((piece) => ({ start, ...piece })))
  }
  return { from: starts[0] ?? from, to: end, starts, segments }
}

/** The range of the same number of buckets that ends where this one begins. */
export function rangeBefore(
  { from, starts }: Pick<ReportRange, 'from' | 'starts'>,
  timezone: string,
  granularity: Granularity,
): { from: Date; to: Date } {
  const zone = zoneOf(timezone)
  // Stepping back from bucket to bucket also counts right where a zone skipped a day.
  let start = from
  for (const _bucket of starts) start = floor(new Date(start.getTime() - 1), granularity, zone)
  return { from: start, to: from }
}

type Piece = Omit<Segment, 'start'>

/**
 * Covers a bucket with the UTC months or days that are nearest to it; the hours by which they differ are added or subtracted.
 * A month in Shanghai takes 1 rollup of a month and 16 of hours, where whole days inside it would take 29 and 24 of hours.
 */
function cover(from: Date, to: Date, granularity: Granularity): Piece[] {
  if (granularity === 'hour') return [{ span: 'hour', sign: 1, from, to }]
  const [first, last] = [nearest(from, granularity), nearest(to, granularity)]
  const whole: Piece = { span: granularity, sign: 1, from: first, to: last }
  return [...edge(from, first), whole, ...edge(last, to)].filter((piece) => piece.from < piece.to)
}

/** The hours between two times; they are subtracted if the second is the earlier one. */
function edge(from: Date, to: Date): Piece[] {
  return from < to ? [{ span: 'hour', sign: 1, from, to }] : [{ span: 'hour', sign: -1, from: to, to: from }]
}

function nearest(at: Date, granularity: Granularity): Date {
  const before = floor(at, granularity, UTC)
  const after = next(before, granularity, UTC)
  return at.getTime() - before.getTime() < after.getTime() - at.getTime() ? before : after
}

/** Returns the milliseconds by which a time zone is ahead of UTC at a moment. */
type Zone = (at: Date) => number

const UTC: Zone = () => 0

function zoneOf(timezone: string): Zone {
  if (timezone === 'UTC') return UTC
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' })
  } catch (cause) {
    return refuseField(['timezone'], 'expected an IANA time zone.', cause)
  }
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = '0', minutes = '0'] = ZONE_MINUTES.exec(name) ?? []
    if (minutes !== '00' && minutes !== '0') {
      refuseField(['timezone'], 'expected one whose offset is a whole number of hours.')
    }
    return (sign === '-' ? -1 : 1) * Number(hours) * HOUR_MS
  }
}

function floor(at: Date, granularity: Granularity, zone: Zone): Date {
  if (granularity === 'hour') return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)
  const local = new Date(at.getTime() + zone(at))
  const day = granularity === 'day' ? local.getUTCDate() : 1
  return fromLocal(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), day), zone)
}

function next(start: Date, granularity: Granularity, zone: Zone): Date {
  if (granularity === 'hour') return new Date(start.getTime() + HOUR_MS)
  const local = new Date(start.getTime() + zone(start))
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  return fromLocal(granularity === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1), zone)
}

/**
 * The first moment at which the local time of the zone has this value. If the local time skips it, as at midnight in Havana
 * and Santiago, the offset before the change gives the moment of the change.
 */
function fromLocal(localMs: number, zone: Zone): Date {
  const before = zone(new Date(localMs - DAY_MS))
  const after = zone(new Date(localMs + DAY_MS))
  const [early, late] = [new Date(localMs - before), new Date(localMs - after)]
  return zone(early) !== before && zone(late) === after ? late : early
}
