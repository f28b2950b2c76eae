const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

/** From the year 10000 on, `toISOString` writes six-digit years, which PostgreSQL cannot parse. */
const TIME_MS_END = Date.UTC(10_000, 0)

/**
 * Parses an ISO 8601 time with a zone, from 1970 to 9999. Returns undefined for anything else. Every time that a caller sends
 * goes through this parser, because `new Date(text)` alone would also accept local times and 30 February.
 */
export function parseTimestamp(text: string): Date | undefined {
  const day = TIMESTAMP.exec(text)?.[1]
  return day === undefined || !isCalendarDay(day) ? undefined : withinYears(new Date(text))
}

/** Parses a date without a time, from 1970 to 9999, as midnight UTC. Returns undefined for anything else. */
export function parseDate(text: string): Date | undefined {
  return DATE.test(text) && isCalendarDay(text) ? withinYears(new Date(text)) : undefined
}

/** Parses a date without a time as the last millisecond of that day in UTC. Returns undefined for anything else. */
export function parseDayEnd(text: string): Date | undefined {
  const day = parseDate(text)
  return day && new Date(day.getTime() + DAY_MS - 1)
}

function withinYears(time: Date): Date | undefined {
  return time.getTime() >= 0 && time.getTime() < TIME_MS_END ? time : undefined
}

/** `Date` turns 30 February into a day in March, so the parsed date must begin with the same text. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
