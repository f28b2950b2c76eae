const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const OFFSET = /^GMT(?:([+-])(\d{2}):(\d{2}))?/

const offsets = new Map<string, Intl.DateTimeFormat>()

/** The milliseconds by which a time zone is ahead of UTC at a moment. */
export function offsetMs(at: Date, zone: string): number {
  let format = offsets.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    offsets.set(zone, format)
  }
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * 60_000)
}

/**
 * Whether the gateway can report in a zone: sums are kept by hours of UTC, so the offset must be whole hours. It is looked at
 * through the year before, because Lord Howe Island has a summer time of half an hour.
 */
export function isReportable(zone: string, now: Date): boolean {
  try {
    return Array.from({ length: 13 }, (_, month) => new Date(now.getTime() - month * 28 * DAY_MS)).every(
      (at) => offsetMs(at, zone) % HOUR_MS === 0,
    )
  } catch {
    // Not the name of a zone.
    return false
  }
}

interface ReportZone {
  readonly zone: string
  /** The zone of the browser, where the gateway cannot report in it. */
  readonly replaced?: string
}

/** The zone of the browser, or UTC where its offset is not a whole number of hours. */
export function reportZone(now = new Date()): ReportZone {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return isReportable(own, now) ? { zone: own } : { zone: 'UTC', replaced: own }
}

/** The start of the day of a zone that is `days` after the day of a moment; for days before it, `days` is negative. */
export function startOfDay(at: Date, zone: string, days = 0): Date {
  const local = new Date(at.getTime() + offsetMs(at, zone))
  return fromLocal(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + days), zone)
}

/** The start of the week, which begins on Monday, that is `weeks` after the week of a moment. */
export function startOfWeek(at: Date, zone: string, weeks = 0): Date {
  const local = new Date(at.getTime() + offsetMs(at, zone))
  return startOfDay(at, zone, 7 * weeks - ((local.getUTCDay() + 6) % 7))
}

/** The start of the month of a zone that is `months` after the month of a moment. */
export function startOfMonth(at: Date, zone: string, months = 0): Date {
  const local = new Date(at.getTime() + offsetMs(at, zone))
  return fromLocal(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + months), zone)
}

/** The moment at which the clocks of a zone show the same time, days later; days before, `days` is negative. */
export function sameTime(at: Date, zone: string, days: number): Date {
  // One millisecond less, since the end of the last hour of a day is the next day.
  const last = new Date(at.getTime() - 1)
  const inDay = at.getTime() - startOfDay(last, zone).getTime()
  return new Date(startOfDay(last, zone, days).getTime() + inDay)
}

/** A moment as the clocks of a zone show it, in the form of an `<input type="datetime-local">`. */
export function toWallTime(at: Date, zone: string): string {
  return new Date(at.getTime() + offsetMs(at, zone)).toISOString().slice(0, 16)
}

/** The moment at which the clocks of a zone show a time; undefined where the text is not a time. */
export function fromWallTime(text: string, zone: string): Date | undefined {
  const localMs = Date.parse(`${text}Z`)
  return Number.isNaN(localMs) ? undefined : fromLocal(localMs, zone)
}

/**
 * The first moment at which the clocks show a time. If they skip it, as at midnight in Havana and Santiago, the offset before
 * the change gives the moment of the change; the gateway begins its days in the same way.
 */
function fromLocal(localMs: number, zone: string): Date {
  const before = offsetMs(new Date(localMs - DAY_MS), zone)
  const after = offsetMs(new Date(localMs + DAY_MS), zone)
  const [early, late] = [new Date(localMs - before), new Date(localMs - after)]
  return offsetMs(early, zone) !== before && offsetMs(late, zone) === after ? late : early
}
