import { ConnectionError, StatusError, type TrunklineError } from '../errors.ts'

/** Waiting longer than this is left to the caller, who gets the error with its `retryAfterMs`. */
const LONGEST_WAIT_MS = 60_000

const FIRST_WAIT_MS = 500
const LONGEST_BACKOFF_MS = 8_000

/**
 * What must be certain before a request is sent again. `advised`: it creates something, so that either the gateway was not
 * reached, or it advises the repetition. `unreached`: where it was done already, the second one is refused or undoes what came
 * between, so that the gateway was not reached; advice of a gateway that lost its database on the way is not certain enough.
 */
export type Repeatable = 'advised' | 'unreached'

/**
 * Returns how long to wait before the next attempt, or undefined where the request must not be repeated.
 *
 * @param retries how many retries there were before this failure
 * @param repeatable see {@link RequestSpec.repeatable}
 * @param random a number in [0, 1)
 */
export function retryDelayMs(
  error: unknown,
  retries: number,
  repeatable: Repeatable | undefined,
  random = Math.random(),
): number | undefined {
  if (!mayBeRepeated(error, repeatable)) return undefined
  // The jitter keeps the clients of one outage from coming back at one moment.
  const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_BACKOFF_MS) * (1 - random / 4)
  const delayMs = Math.max(error.retryAfterMs ?? 0, backoffMs)
  return delayMs > LONGEST_WAIT_MS ? undefined : delayMs
}

function mayBeRepeated(error: unknown, repeatable: Repeatable | undefined): error is TrunklineError {
  if (error instanceof ConnectionError) return !repeatable || !error.wasConnected
  if (!(error instanceof StatusError) || repeatable === 'unreached') return false
  const { status, headers } = error
  const advice = headers?.get('x-should-retry')
  return advice ? advice === 'true' : !repeatable && /408|429|5../.test(`${status}`)
}
