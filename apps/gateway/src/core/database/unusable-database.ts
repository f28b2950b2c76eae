import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Database } from './database.ts'

/**
 * Reads the names of pending migrations, as the first query to a database. Its failures have causes that the operator can
 * fix: a wrong database name, a wrong password, missing TLS, a pooler of transactions or a damaged directory.
 *
 * @throws OperatorError if the database cannot be used; the original error if the server is down, so that callers can wait
 */
export async function readPendingMigrations(database: Database): Promise<string[]> {
  try {
    await database.checkSessions?.()
    return await database.pendingMigrations()
  } catch (error) {
    throw isConnectionError(error) ? error : unusableDatabaseError(database.kind, error)
  }
}

/**
 * Converts an error to an {@link OperatorError} that names the setting to fix. Returns connection errors unchanged, and errors that
 * say already what to do.
 */
export function unusableDatabaseError(kind: Database['kind'], cause: unknown): unknown {
  if (isConnectionError(cause) || cause instanceof OperatorError) return cause
  const setting = kind === 'server' ? 'DATABASE_URL' : 'DATA_DIR'
  return new OperatorError(`${setting}: the database cannot be used: ${messageOf(cause)}.`, { cause })
}

/**
 * Returns the first message of an error and its causes. The `AggregateError` of a connection that was tried at several
 * addresses has no message of its own.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  // PGlite's file system throws objects that have only a name and an errno.
  const { message, cause, name, errno } = error as Partial<Error & { errno: unknown }>
  if (message) return message.trim()
  return cause === undefined ? [name, errno].filter(Boolean).join(' ') || String(error) : messageOf(cause)
}
