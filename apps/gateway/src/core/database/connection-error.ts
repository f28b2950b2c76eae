import { DeadlineError } from '#core/deadline.ts'
import { errorCode } from '#core/error-code.ts'

/** The server ended a statement because it took too long: it was heard, and nothing of it was done. */
export function isStatementTimeout(error: unknown): boolean {
  return errorCode(error) === QUERY_CANCELED
}

const QUERY_CANCELED = '57014'

/**
 * The database could not be asked, as against: it said no. SQLSTATE classes 08 (connection), 53 (resources) and
 * 57 (operator), the socket's own codes, Prisma's words for the same, and pg's errors, some of which have no code.
 */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof DeadlineError) return true
  if (typeof error !== 'object' || error === null) return false
  const { code, message, cause, meta } = error as Partial<Told>
  if (typeof code === 'string') {
    if (/^(08|53|57)/.test(code) || /^P(1001|1002|1008|1017|2024|2028)$/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOST|ENET|EAI_)/.test(code)) return true
  }
  if (
    /connection terminated|timeout exceeded|read timeout|connection error|DatabaseNotReachable/i.test(
      message ?? '',
    )
  ) {
    return true
  }
  // Prisma hides what it has no word for, such as a statement that took too long.
  const inner = cause ?? meta?.driverAdapterError
  return isConnectionError(inner)
}

/**
 * Worth the same statement again. One that took too long is not, although {@link isConnectionError} has it among what
 * callers are told as `unavailable`: it would take as long the next time.
 */
export function isLostConnection(error: unknown): boolean {
  return isConnectionError(error) && !isStatementTimeout(error)
}

interface Told {
  readonly code: unknown
  readonly message: string
  readonly cause: unknown
  readonly meta: { readonly driverAdapterError?: unknown }
}
