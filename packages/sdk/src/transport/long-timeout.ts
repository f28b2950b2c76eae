/** The longest delay of a timer, 24.8 days: a longer one, Infinity among them, would pass at once. */
const DELAY_MS_MAX = 2 ** 31 - 1

/** A delay of 0 is none as well. */
export function setLongTimeout(delayMs: number, callback: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(delayMs || DELAY_MS_MAX, DELAY_MS_MAX))
}
