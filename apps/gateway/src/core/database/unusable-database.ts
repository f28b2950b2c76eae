import { OperatorError } from '#core/operator-error.ts'
import { isConnectionError } from './connection-error.ts'
import type { Database } from './database.ts'

/** The database is there but does not let itself be used: another name, a wrong password, no TLS, a broken directory. */
export class UnusableDatabaseError extends OperatorError {}

/**
 * The first question to a database: which migrations it lacks. Whatever it refuses here, it refuses for a reason that the
 * operator can repair. A server that is down throws its own error, since callers may want to wait for it.
 */
export async function firstContact(database: Database): Promise<string[]> {
  try {
    return await database.pendingMigrations()
  } catch (error) {
    throw isConnectionError(error) ? error : unusableDatabase(database.kind, error)
  }
}

export function unusableDatabase(kind: Database['kind'], cause: unknown): unknown {
  if (isConnectionError(cause)) return cause
  const setting = kind === 'server' ? 'DATABASE_URL' : 'DATA_DIR'
  return new UnusableDatabaseError(`${setting}: the database cannot be used: ${wordsOf(cause)}.`, { cause })
}

/** The first text in an error and its causes: one that was tried at several addresses has none of its own. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return wordsOf(error.errors[0])
  // PGlite's file system throws objects that have a name and a number alone.
  const { message, cause, name, errno } = error as Partial<Error & { errno: unknown }>
  if (message) return message.trim()
  return cause === undefined ? [name, errno].filter(Boolean).join(' ') || String(error) : wordsOf(cause)
}
