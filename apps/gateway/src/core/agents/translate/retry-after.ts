import type { HeaderReader } from '#core/agents/adapter.ts'

/**
 * Common clients (openai 4 and 5, the AI SDK) honor only values below 60 and retry almost at once otherwise.
 */
const SECONDS_MAX = 59

/**
 * Returns the seconds to wait, from the header or else from a text such as "try again in 23 seconds", clamped
 * to 1–59. A header with a date is ignored, because adapters have no clock.
 */
export function retryAfter(header: HeaderReader | undefined, text: unknown): number | undefined {
  const seconds =
    /^\s*(\d+(?:\.\d+)?)\s*$/.exec(header?.('retry-after') ?? '')?.[1] ??
    /try again in (\d+(?:\.\d+)?)\s?s/i.exec(typeof text === 'string' ? text.slice(0, 2000) : '')?.[1]
  return seconds === undefined ? undefined : Math.min(Math.max(Math.ceil(Number(seconds)), 1), SECONDS_MAX)
}
