import { isConnectionError, isDiskFull } from './connection-error.ts'
import { Problem } from './errors.ts'

/**
 * Converts anything thrown to a problem: `unavailable` if the database does not answer, `internal_error` for every
 * other unexpected error. The cause is logged and never sent to a client.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return isConnectionError(error)
    ? new Problem('unavailable', { limit: partOf(error), cause: error })
    : new Problem('internal_error', { cause: error })
}

/** The part that is not available when a statement has failed with this error. */
export function partOf(error: unknown): 'database' | 'disk_full' {
  return isDiskFull(error) ? 'disk_full' : 'database'
}
