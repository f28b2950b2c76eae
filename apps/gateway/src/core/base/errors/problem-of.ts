import { isUnavailable, writeObstacle } from './connection-error.ts'
import { Problem } from './errors.ts'

/**
 * Converts anything thrown to a problem: `unavailable` if the database does not answer or takes no writes, `internal_error` for
 * every other unexpected error. The cause is logged and never sent to a client.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return isUnavailable(error)
    ? new Problem('unavailable', { limit: partOf(error), cause: error })
    : new Problem('internal_error', { cause: error })
}

/** The part that is not available when a statement has failed with this error. */
export function partOf(error: unknown): 'database' | 'disk_full' | 'not_writable' {
  const obstacle = writeObstacle(error)
  if (obstacle === undefined) return 'database'
  return obstacle === 'disk_full' ? 'disk_full' : 'not_writable'
}
