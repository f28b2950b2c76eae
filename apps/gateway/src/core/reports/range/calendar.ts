import { refuseField } from '#core/base/errors/errors.ts'

export const GRANULARITIES = ['hour', 'day', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

/** Returns the milliseconds by which a time zone is ahead of UTC at a moment. */
export type Zone = (at: Date) => number

export const UTC: Zone = () => 0

export const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** In former times there were offsets with seconds, such as that of Monrovia until 1972. */
const OFFSET = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/

/**
 * A time zone by its IANA name.
 *
 * @throws Problem `invalid_request`
 */
export function timeZone(name: string): Zone {
  if (name === 'UTC') return UTC
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  } catch (cause) {
    return refuseField(['timezone'], 'expected an IANA time zone.', cause)
  }
  return (at) => {
    const text = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(text) ?? []
    const offsetMs = Number(hours) * HOUR_MS + Number(minutes) * 60_000 + Number(seconds) * 1_000
    return sign === '-' ? -offsetMs : offsetMs
  }
}

/**
 * A time zone that refuses moments at which its offset is not a whole number of hours.
 *
 * @throws Problem `invalid_request`, also thrown by the zone that is returned
 */
export function timeZoneOfWholeHours(name: string): Zone {
  const zone = timeZone(name)
  return (at) => {
    const offsetMs = zone(at)
    if (offsetMs % HOUR_MS !== 0)
      refuseField(['timezone'], 'expected one whose offset is a whole number of hours.')
    return offsetMs
  }
}

/** The start of the hour, day or month that contains a moment. */
export function startOf(at: Date, granularity: Granularity, zone: Zone): Date {
  if (granularity === 'hour') return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)
  const local = localOf(at, zone)
  const day = granularity === 'day' ? local.getUTCDate() : 1
  return fromLocal(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), day), zone)
}

/** The start of the hour, day or month after the one that begins at `start`. */
export function startOfNext(start: Date, granularity: Granularity, zone: Zone): Date {
  if (granularity === 'hour') return new Date(start.getTime() + HOUR_MS)
  const local = localOf(start, zone)
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  return fromLocal(granularity === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1), zone)
}

/** The moment so many days earlier at which the clocks of the zone showed the same time. */
export function daysBefore(at: Date, days: number, zone: Zone): Date {
  return fromLocal(localOf(at, zone).getTime() - days * DAY_MS, zone)
}

/** The first moment of a day; `day` is midnight UTC of its date. */
export function startOfDate(day: Date, zone: Zone): Date {
  return fromLocal(day.getTime(), zone)
}

/** A moment whose UTC fields are those that the clocks of the zone show at this moment. */
function localOf(at: Date, zone: Zone): Date {
  return new Date(at.getTime() + zone(at))
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
