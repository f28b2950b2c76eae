const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Beyond the year 9999, `toISOString` writes six digits, which PostgreSQL does not read. */
const BEYOND_MS = Date.UTC(10_000, 0)

/**
 * Parses an ISO 8601 time with a zone, from 1970 to 9999; with `dates`, also a plain date, which begins at midnight UTC.
 * Returns undefined for anything else. Every time that a caller sends goes through this parser: `new Date(text)` alone
 * would also accept local times and 30 February.
 */
export function parseTimestamp(text: string, { dates = false } = {}): Date | undefined {
  const day = dates && DATE.test(text) ? text : TIMESTAMP.exec(text)?.[1]
  if (day === undefined || !isCalendarDay(day)) return undefined
  const timestamp = new Date(text)
  return timestamp.getTime() >= 0 && timestamp.getTime() < BEYOND_MS ? timestamp : undefined
}

/** `Date` carries 30 February over into March. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
