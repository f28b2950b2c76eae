const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Beyond the year 9999, `toISOString` writes six digits, which PostgreSQL does not read. */
const BEYOND_MS = Date.UTC(10_000, 0)

/**
 * A moment in ISO 8601 with its zone, from 1970 to 9999; where `dates` is set, a date as well, which begins at midnight UTC.
 * It is the one reader of times that callers send: `Date` alone would also take local times, 30 February and much else.
 */
export function parseInstant(text: string, { dates = false } = {}): Date | undefined {
  const day = dates && DATE.test(text) ? text : INSTANT.exec(text)?.[1]
  if (day === undefined || !isCalendarDay(day)) return undefined
  const instant = new Date(text)
  return instant.getTime() >= 0 && instant.getTime() < BEYOND_MS ? instant : undefined
}

/** `Date` carries 30 February over into March. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
