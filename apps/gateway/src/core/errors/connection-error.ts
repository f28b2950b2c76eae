import { DeadlineError } from '#core/base/async/deadline.ts'
import { errorCode } from '#core/base/values/error-code.ts'

/**
 * Whether the server cancelled a statement that took too long or waited too long for a lock. The statement was received, but had no
 * effect.
 */
export function isStatementTimeout(error: unknown): boolean {
  const code = errorCode(error)
  return code === QUERY_CANCELED || code === LOCK_NOT_AVAILABLE
}

const QUERY_CANCELED = '57014'
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Whether PostgreSQL could not write because its disk is full. The connection is fine then, and reads succeed. Prisma wraps the
 * error in one of its own, and its adapter describes it by an object.
 */
export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, originalCode, cause, meta } = error as Partial<ErrorFields>
  if (code === DISK_FULL || originalCode === DISK_FULL) return true
  return isDiskFull(cause ?? meta?.driverAdapterError)
}

const DISK_FULL = '53100'

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

interface ErrorFields {
  readonly code: unknown
  readonly originalCode: unknown
  readonly message: string
  readonly cause: unknown
  readonly meta: { readonly driverAdapterError?: unknown }
}
