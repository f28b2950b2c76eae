const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** From the year 10000 on, `toISOString` writes six-digit years, which PostgreSQL cannot parse. */
const TIME_MS_END = Date.UTC(10_000, 0)

/**
 * Parses an ISO 8601 time with a zone, from 1970 to 9999; with `dates`, also a plain date, which stands for midnight UTC.
 * Returns undefined for anything else. Every time that a caller sends goes through this parser, because `new Date(text)`
 * alone would also accept local times and 30 February.
 */
export function parseTimestamp(text: string, { dates = false } = {}): Date | undefined {
  const day = dates && DATE.test(text) ? text : TIMESTAMP.exec(text)?.[1]
  if (day === undefined || !isCalendarDay(day)) return undefined
  const timestamp = new Date(text)
  return timestamp.getTime() >= 0 && timestamp.getTime() < TIME_MS_END ? timestamp : undefined
}

/** `Date` turns 30 February into a day in March, so the parsed date must begin with the same text. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
