import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Database } from '#core/database/database.ts'
import { makePrivateDirectory } from '#core/database/disk/private-directory.ts'
import { applyMigrations, pendingMigrations } from '#core/database/migrations/migrate.ts'
import { openPool, poolSql } from '#core/database/pool.ts'
import { CALL_SETTINGS } from '#core/database/session-settings.ts'
import { unusableDatabaseError } from '#core/database/unusable-database.ts'
import { PrismaClient } from '#generated/prisma/client.ts'
import { contentOfFolder, markFinished, markUnfinished, openingError } from './database-folder.ts'
import { type Engine, type EngineOptions, openEngine } from './engine.ts'
import { oneLane } from './one-lane.ts'

/**
 * Opens PGlite in `<dataDir>/db`. The caller must hold the directory's lock, because two processes that use the same files
 * would corrupt them.
 *
 * @throws OperatorError if the files cannot be used, are no database, or other accounts can read them
 */
export async function openEmbedded({ dataDir, ...options }: EngineOptions): Promise<Database> {
  const path = join(dataDir, 'db')
  try {
    const isNew = (await contentOfFolder(path)) === 'none'
    // It has password hashes and, without SECRET_KEY, the private keys that sign tokens.
    await makePrivateDirectory(path)
    if (isNew) await markUnfinished(path)
    const engine = await openEngine({ ...options, dataDir: path }).catch(async (error: unknown) => {
      throw isNew ? error : await openingError(path, error)
    })
    await markFinished(path)
    if (isNew) options.observer?.made(path)
    return databaseOn(engine)
  } catch (error) {
    throw unusableDatabaseError('embedded', error)
  }
}

/** Uses an engine through the driver of servers; tests pass an engine that keeps its files in memory. */
export function databaseOn(engine: Engine): Database {
  const pool = embeddedPool(engine)
  const sql = poolSql(pool)
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  return {
    kind: 'embedded',
    sql,
    prisma,
    lanes: oneLane({ sql, prisma }),
    patiently: engine.patiently,
    pendingMigrations: () => pendingMigrations(sql),
    migrate: () =>
      engine.patiently(() =>
        applyMigrations({
          sql,
          isShared: false,
          runScript: (script) => pool.query(script),
          adapter: () => new PrismaPg(pool).connect(),
        }),
      ),
    async close() {
      await prisma.$disconnect()
      await pool.end()
      await engine.close()
    },
  }
}

/** How long a statement waits for those before it. */
const QUEUED_WITHIN_MS = 10_000

/**
 * The session remains when a connection is replaced, as pg's pool does after an error. What the previous one has prepared, set or
 * left open is reset, but not its temporary tables, which an export in progress needs.
 */
const RESET = ['ROLLBACK', `DEALLOCATE ALL; RESET ALL; ${CALL_SETTINGS}`]

/** A pool of the engine's only connection. Nothing in it comes from the environment, which may describe a server. */
export function embeddedPool(engine: Pick<Engine, 'connect'>): pg.Pool {
  return openPool({
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: QUEUED_WITHIN_MS,
    user: 'postgres',
    database: 'postgres',
    host: 'localhost',
    port: 5432,
    ssl: false,
    stream: () => engine.connect(),
    async onConnect(client) {
      for (const statements of RESET) await client.query(statements)
    },
  })
}
