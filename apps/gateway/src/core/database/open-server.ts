import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { sleep } from '#core/async/sleep.ts'
import { OperatorError } from '#core/operator-error.ts'
import { PrismaClient } from '#generated/prisma/client.ts'
import type { Database, Sql } from './database.ts'
import { listen } from './listen.ts'
import { applyMigrations, pendingMigrations } from './migrations/migrate.ts'
import { openPool, poolSql, statements } from './pool.ts'
import { SESSION_SETTINGS } from './session-settings.ts'

export interface ServerOptions {
  readonly url: string
  readonly poolMax?: number
  readonly connectTimeoutMs?: number
  readonly statementTimeoutMs?: number
  /**
   * For the dedicated connection, which runs admissions. A caller waits two seconds for an admission; a statement that ran
   * longer would count calls that were already rejected and delay the next ones.
   */
  readonly dedicatedStatementTimeoutMs?: number
}

/** Creates a database that connects with its first query, so that a gateway can start and keep running without its server. */
export function openServer(options: ServerOptions): Database {
  const { url, poolMax = 10, connectTimeoutMs = 2_000, statementTimeoutMs = 10_000 } = options
  const { dedicatedStatementTimeoutMs = 2_000 } = options
  const config = (timeoutMs: number): pg.PoolConfig => ({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    // Normally the server cancels a slow statement first; this timeout applies if the server does not respond at all.
    query_timeout: timeoutMs + 5_000,
    onConnect: (client) => client.query(`${SESSION_SETTINGS}; SET statement_timeout = ${timeoutMs}`),
  })
  const pool = openPool({ ...config(statementTimeoutMs), max: poolMax })
  const sql = poolSql(pool)
  const dedicated = dedicatedSql(openPool({ ...config(dedicatedStatementTimeoutMs), max: 1 }))
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  return {
    kind: 'server',
    sql,
    dedicatedSql: dedicated,
    prisma,
    pool: {
      state: () => ({
        max: poolMax,
        inUse: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
      }),
    },
    listen: (channel, onMessage) => listen({ url, connectTimeoutMs, channel, onMessage }),
    patiently: (work) => work(),
    pendingMigrations: () => pendingMigrations(sql),
    migrate: async () =>
      (await pendingMigrations(sql)).length === 0 ? [] : migrateLocked(url, connectTimeoutMs),
    async close() {
      await prisma.$disconnect()
      await Promise.all([pool.end(), dedicated.close()])
    },
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
 * Asks for the lock again and again instead of waiting for it: whoever waits in a statement has a transaction, for whose end
 * the other process would wait while it builds an index.
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

/** Discards its connection after every error and opens another for the next statement. */
function dedicatedSql(pool: pg.Pool): Sql & { close(): Promise<void> } {
  const prepared = statements()
  let current: Promise<pg.PoolClient> | undefined

  function connect(): Promise<pg.PoolClient> {
    const connecting = markRejectionHandled(pool.connect())
    // Without a listener, the loss of an idle connection would end the process.
    connecting.then((client) => client.on('error', () => discard(connecting))).catch(() => undefined)
    return connecting
  }

  function discard(connection: Promise<pg.PoolClient> | undefined): void {
    if (connection === undefined || connection !== current) return
    current = undefined
    connection.then((client) => client.release(true)).catch(() => undefined)
  }

  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      current ??= markRejectionHandled(connect())
      const used = current
      try {
        const { rows } = await (await used).query(prepared(text, values))
        return rows as Row[]
      } catch (error) {
        discard(used)
        throw error
      }
    },
    async close() {
      discard(current)
      await pool.end()
    },
  }
}
