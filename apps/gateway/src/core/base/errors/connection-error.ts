import { DeadlineError } from '#core/base/async/deadline.ts'
import { errorCode } from '#core/base/values/error-code.ts'

/**
 * Whether the server cancelled a statement that took too long or waited too long for a lock. The statement was received, but had no
 * effect.
 */
export function isStatementTimeout(error: unknown): boolean {
  return errorCode(error) === QUERY_CANCELED || isLockTimeout(error)
}

/** Whether a statement waited too long for a lock. It had no effect, and its connection is fine. */
export function isLockTimeout(error: unknown): boolean {
  return errorCode(error) === LOCK_NOT_AVAILABLE
}

const QUERY_CANCELED = '57014'
const LOCK_NOT_AVAILABLE = '55P03'

/** Why a database that answers and can be read does not take what is written. */
export type WriteObstacle = 'disk_full' | 'read_only' | 'missing_right'

/** The obstacles in words, for operators. */
export const OBSTACLES: Readonly<Record<WriteObstacle, string>> = {
  disk_full: 'its disk is full',
  read_only: 'it is read only',
  missing_right: 'the role of the gateway lacks a right',
}

const OBSTACLE_OF: Readonly<Record<string, WriteObstacle>> = {
  '53100': 'disk_full',
  // A standby, a server that was set to read only, or a transaction of such a session.
  '25006': 'read_only',
  '42501': 'missing_right',
}

/** Why a statement could not write; undefined for every other error. The connection is fine then, and reads succeed. */
export function writeObstacle(error: unknown): WriteObstacle | undefined {
  return codesOf(error)
    .map((code) => OBSTACLE_OF[code])
    .find((obstacle) => obstacle !== undefined)
}

/** Whether PostgreSQL could not write because its disk is full. */
export function isDiskFull(error: unknown): boolean {
  return writeObstacle(error) === 'disk_full'
}

/**
 * Whether the server ended a transaction for the sake of another: a deadlock, or a serialization failure. It had no effect, and the
 * same transaction is worth a retry at once.
 */
export function isConflict(error: unknown): boolean {
  return codesOf(error).some((code) => CONFLICTS.has(code))
}

/** Of which the last one is Prisma's. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', 'P2034'])

/** Whether a value is at fault, and not the state of the database: SQLSTATE classes 22 (data) and 23 (integrity). */
export function isDataError(error: unknown): boolean {
  return codesOf(error).some((code) => /^2[23][0-9A-Z]{3}$/.test(code))
}

/** Whether the statements of other rows would fail in the same way, so that smaller batches would fail as well. */
export function concernsDatabase(error: unknown): boolean {
  return isLostConnection(error) || writeObstacle(error) !== undefined
}

/** Whether the server answered that a statement was not executed, so that it has certainly had no effect. */
export function hadNoEffect(error: unknown): boolean {
  return isStatementTimeout(error) || isConflict(error) || writeObstacle(error) !== undefined
}

/** Whether a request that failed so may succeed when the database is as usual again, so that its caller gets `unavailable`. */
export function isUnavailable(error: unknown): boolean {
  return isConnectionError(error) || isConflict(error) || writeObstacle(error) !== undefined
}

/**
 * Whether an error means that the database is not available, rather than that it rejected a statement. It recognizes SQLSTATE
 * classes 08 (connection), 53 (resources) and 57 (operator intervention), a lock that was not free in time (55P03), socket error codes, Prisma's codes for these, and
 * pg's messages, because some of pg's errors have no code.
 */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof DeadlineError) return true
  if (typeof error !== 'object' || error === null) return false
  const { originalCode, message, cause, meta } = error as Partial<ErrorFields>
  // Prisma's adapter describes an error for which it has a word of its own by the code that it had.
  const { code = originalCode } = error as Partial<ErrorFields>
  if (typeof code === 'string') {
    if (/^(08|53|57|55P03)/.test(code) || /^P(1001|1002|1008|1017|2024|2028)$/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOST|ENET|EAI_)/.test(code)) return true
  }
  if (
    /connection terminated|timeout exceeded|read timeout|connection error|DatabaseNotReachable/i.test(
      message ?? '',
    )
  ) {
    return true
  }
  // Prisma wraps errors for which it has no code of its own, such as a statement timeout.
  const inner = cause ?? meta?.driverAdapterError
  return isConnectionError(inner)
}

/**
 * Whether the same statement is worth a retry. A statement timeout and a full disk are not, although {@link isConnectionError}
 * includes them so that callers get `unavailable`: the statement would probably fail again.
 */
export function isLostConnection(error: unknown): boolean {
  return isConnectionError(error) && !isStatementTimeout(error) && !isDiskFull(error)
}

/**
 * The codes of an error and of what it wraps. Prisma wraps the error of the driver in one of its own, and its adapter describes it by an
 * object.
 */
function codesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return []
  const { code, originalCode, cause, meta } = error as Partial<ErrorFields>
  const own = [code, originalCode].filter((each) => typeof each === 'string')
  return [...own, ...codesOf(cause ?? meta?.driverAdapterError)]
}

interface ErrorFields {
  readonly code: unknown
  readonly originalCode: unknown
  readonly message: string
  readonly cause: unknown
  readonly meta: { readonly driverAdapterError?: unknown }
}
