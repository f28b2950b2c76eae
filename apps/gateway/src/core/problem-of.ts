import { isConnectionError } from './database/connection-error.ts'
import { Problem } from './errors.ts'

/**
 * Converts anything thrown to a problem: `unavailable` if the database does not answer, `internal_error` for every
 * other unexpected error. The cause is logged and never sent to a client.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(isConnectionError(error) ? 'unavailable' : 'internal_error', { cause: error })
}
