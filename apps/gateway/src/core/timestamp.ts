const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i

/** A moment in ISO 8601 with its zone. `Date` alone would also take local times, 30 February and much else. */
export function parseInstant(text: string): Date | undefined {
  const day = INSTANT.exec(text)?.[1]
  if (day === undefined || !isCalendarDay(day)) return undefined
  const instant = new Date(text)
  return isValid(instant) ? instant : undefined
}

/** `Date` carries 30 February over into March. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`)
  return isValid(date) && date.toISOString().startsWith(day)
}

function isValid(date: Date): boolean {
  return !Number.isNaN(date.getTime())
}
