import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { sleep } from '#core/base/async/sleep.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { checkSessions } from './check-sessions.ts'
import type { Database } from './database.ts'
import { listen } from './listen.ts'
import { applyMigrations, pendingMigrations } from './migrations/migrate.ts'
import { openPool, poolSql } from './pool.ts'
import { openLanes } from './server-lanes.ts'
import { SESSION_SETTINGS } from './session-settings.ts'

export interface ServerOptions {
  readonly url: string
  readonly connectTimeoutMs?: number
  readonly statementTimeoutMs?: number
  /** The connections for what can wait ({@link openLanes}); for tests and benches that need one session. */
  readonly poolMax?: number
}

/** Creates a database that connects with its first query, so that a gateway can start and keep running without its server. */
export function openServer(options: ServerOptions): Database {
  const { url, connectTimeoutMs = 2_000, statementTimeoutMs = 10_000, poolMax } = options
  const { sql, prisma, lanes, connections, onConnection, close } = openLanes({
    url,
    connectTimeoutMs,
    statementTimeoutMs,
    managementMax: poolMax,
  })
  return {
    kind: 'server',
    sql,
    prisma,
    lanes,
    connections,
    listen: (channel, onMessage) => listen({ url, connectTimeoutMs, channel, onMessage }),
    checkSessions: () => onConnection((client) => checkSessions(client, { url, connectTimeoutMs })),
    patiently: (work) => work(),
    pendingMigrations: () => pendingMigrations(lanes.probes),
    migrate: async () =>
      (await pendingMigrations(sql)).length === 0 ? [] : migrateLocked(url, connectTimeoutMs),
    close,
  }
}

/** The lock id of Prisma's command line, so that its migrations and the gateway's exclude each other. */
const MIGRATION_LOCK = 72707369
const LOCK_WITHIN_MS = 60_000
const LOCK_EVERY_MS = 200

async function migrateLocked(url: string, connectTimeoutMs: number): Promise<string[]> {
  const pool = openPool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 0,
    // The lock belongs to the connection. Since it is taken whenever the pool connects, a reconnection cannot continue without
    // it.
    async onConnect(client) {
      await client.query(SESSION_SETTINGS)
      await takeMigrationLock(client)
    },
  })
  try {
    return await applyMigrations({
      sql: poolSql(pool),
      isShared: true,
      runScript: (script) => pool.query(script),
      adapter: () => new PrismaPg(pool).connect(),
    })
  } finally {
    await pool.end()
  }
}

/**
 * Tries to take the lock again and again instead of waiting for it: a process that waits in a statement has an open transaction,
 * for whose end the other process would wait while it builds an index.
 */
async function takeMigrationLock(client: pg.ClientBase): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS taken`,
    )
    if (rows[0]?.taken === true) return
    if (performance.now() - startedMs >= LOCK_WITHIN_MS) {
      throw new OperatorError(
        `Another process has been migrating the database for ${LOCK_WITHIN_MS / 1_000} s.`,
      )
    }
    await sleep(LOCK_EVERY_MS)
  }
}
