import pg from 'pg'
import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'

export interface Sessions {
  /** Whether a connection pooler is between this process and the server. */
  readonly arePooled: boolean
}

export interface SessionsAt {
  readonly url: string
  readonly connectTimeoutMs: number
}

const ROUNDS = 3

/**
 * Checks that a connection is a session of the server, with its settings, prepared statements, locks and notifications. A pooler that
 * gives each transaction the next free session, such as PgBouncer with `pool_mode = transaction`, breaks all of these.
 *
 * Where the connection was begun with the session's own process id, no pooler is in between, and that is all. Else a second connection
 * shows which sessions both get: two connections never have one session at once, and none changes its own. Whatever rule picks
 * sessions, a pooler of transactions breaks one of the two, also with one session and with sessions in turn: it hands the second
 * connection what the first one has just used, or the first one something else at its next statement.
 *
 * @throws OperatorError if a pooler of transactions or statements is in between
 */
export async function checkSessions(
  first: pg.ClientBase,
  { url, connectTimeoutMs }: SessionsAt,
): Promise<Sessions> {
  const own = await sessionOf(first)
  const begun: unknown = Reflect.get(first, 'processID')
  if (begun === own) return { arePooled: false }
  const second = new pg.Client({
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  })
  // A lost connection rejects the current statement as well.
  second.on('error', () => undefined)
  try {
    await second.connect()
    const others = await sessionOf(second)
    for (let round = 0; round < ROUNDS; round += 1) {
      const now = [
        await sessionOf(first),
        await sessionOf(first),
        await sessionOf(second),
        await sessionOf(second),
      ]
      if (own === others || now.join() !== [own, own, others, others].join())
        throw new OperatorError(NO_SESSIONS)
    }
  } catch (error) {
    // The pooler has no session left for a second connection while the first one does nothing, so it does not share that one.
    if (!isConnectionError(error)) throw error
  } finally {
    second.end().catch(() => undefined)
  }
  return { arePooled: true }
}

const NO_SESSIONS =
  'DATABASE_URL: a connection pooler gives the transactions of one connection to changing sessions of PostgreSQL, as PgBouncer does with pool_mode = transaction or statement. The gateway needs sessions: set pool_mode = session for its database, or name PostgreSQL itself.'

/** Without parameters, so that nothing is prepared. */
async function sessionOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}
