/** The month before this one in UTC, such as `2026-10`. */
export function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7)
}

/**
 * The first day of a month and of the next. These are the same texts at every render: a time of this moment would be a new
 * query each time.
 */
export function daysOf(month: string): { from: string; to: string } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { from: `${month}-01`, to: new Date(Date.UTC(year, number)).toISOString().slice(0, 10) }
}
