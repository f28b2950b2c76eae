import { sameTime, startOfDay, startOfMonth, startOfWeek } from '../../report/zone.ts'
import { rangeOf, type UsageSearch } from './usage-search.ts'

const HOUR_MS = 3_600_000
/** Longer ranges of whole months are compared with as many days as they have; a thousand months are never needed. */
const MONTHS_MAX = 120

type Period = readonly [from: Date, to: Date]

/**
 * The period with which a report is compared. A week, a month and whole days are compared with those before them, and not with
 * as many hours: months differ in length, and days do where clocks change. What has not ended yet is compared with the time
 * before up to the same hour.
 */
export function periodBefore(search: UsageSearch, now: Date): Period {
  const { range, zone } = search
  const [from, to] = rangeOf(search, zone, now)
  // A report ends with the hour in which its range ends.
  const end = new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS)
  switch (range) {
    case 'this_week':
      return [startOfWeek(now, zone, -1), sameTime(end, zone, -7)]
    case 'this_month':
      return [startOfMonth(now, zone, -1), inMonth(end, zone, -1)]
    case '12m':
      return [startOfMonth(now, zone, -23), inMonth(end, zone, -12)]
    case undefined:
    case 'last_week':
    case 'last_month':
      return wholeBefore(from, to, zone)
    default: {
      const days = daysOf(from, end, zone)
      return [startOfDay(from, zone, -days), sameTime(end, zone, -days)]
    }
  }
}

/** The same hour of a day, months before; the end of a month where that month has no such day. */
function inMonth(at: Date, zone: string, months: number): Date {
  const last = new Date(at.getTime() - 1)
  const days = daysOf(startOfMonth(last, zone), last, zone) - 1
  const day = startOfDay(startOfMonth(last, zone, months), zone, days)
  const end = startOfMonth(last, zone, months + 1)
  const found = new Date(day.getTime() + at.getTime() - startOfDay(last, zone).getTime())
  return found < end ? found : end
}

/** As many whole months or whole days before, or else as many hours. */
function wholeBefore(from: Date, to: Date, zone: string): Period {
  const isMonths = [from, to].every((at) => startOfMonth(at, zone).getTime() === at.getTime())
  const months = isMonths ? monthsOf(from, to, zone) : undefined
  if (months !== undefined) return [startOfMonth(from, zone, -months), from]
  const isDays = [from, to].every((at) => startOfDay(at, zone).getTime() === at.getTime())
  if (isDays) return [startOfDay(from, zone, -daysOf(from, to, zone)), from]
  return [new Date(2 * from.getTime() - to.getTime()), from]
}

function monthsOf(from: Date, to: Date, zone: string): number | undefined {
  const count = Array.from({ length: MONTHS_MAX }, (_, place) => place + 1)
  return count.find((months) => startOfMonth(from, zone, months).getTime() === to.getTime())
}

const DAY_MS = 24 * HOUR_MS

/** How many days of the zone a range touches; a day has 23 to 25 hours. */
function daysOf(from: Date, to: Date, zone: string): number {
  const last = startOfDay(new Date(to.getTime() - 1), zone)
  return Math.round((last.getTime() - startOfDay(from, zone).getTime()) / DAY_MS) + 1
}
