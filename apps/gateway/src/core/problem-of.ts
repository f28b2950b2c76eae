import { isConnectionError } from './database/connection-error.ts'
import { Problem } from './errors.ts'

/**
 * Makes a problem of whatever was thrown: a store that does not answer is `unavailable`, all else that is no problem yet
 * a fault of ours. The cause goes to the log and never to a client.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(isConnectionError(error) ? 'unavailable' : 'internal_error', { cause: error })
}
