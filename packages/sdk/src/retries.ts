import { ConnectionError, StatusError, type TrunklineError } from './errors.ts'

/** Waiting longer than this is left to the caller, who gets the error with its `retryAfterMs`. */
const LONGEST_WAIT_MS = 60_000

const FIRST_WAIT_MS = 500
const LONGEST_BACKOFF_MS = 8_000

/**
 * Returns how long to wait before the next attempt, or undefined where the request must not be repeated.
 *
 * @param retries how many retries there were before this failure
 * @param creates whether the request creates something, so that repeating it could create it twice
 * @param random a number in [0, 1)
 */
export function retryDelayMs(
  error: unknown,
  retries: number,
  creates: boolean,
  random = Math.random(),
): number | undefined {
  if (!mayBeRepeated(error, creates)) return undefined
  // The jitter keeps the clients of one outage from coming back at one moment.
  const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_BACKOFF_MS) * (1 - random / 4)
  const delayMs = Math.max(error.retryAfterMs ?? 0, backoffMs)
  return delayMs > LONGEST_WAIT_MS ? undefined : delayMs
}

function mayBeRepeated(error: unknown, creates: boolean): error is TrunklineError {
  if (error instanceof ConnectionError) return !creates || !error.wasConnected
  if (!(error instanceof StatusError)) return false
  const { status = 0, headers } = error
  const advice = headers?.get('x-should-retry')
  if (advice === 'true' || advice === 'false') return advice === 'true'
  return !creates && (status === 408 || status === 429 || status >= 500)
}
