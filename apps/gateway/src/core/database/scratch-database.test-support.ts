import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Database, Sql } from './database.ts'
import type { Engine } from './embedded/engine.ts'
import { localEngine } from './embedded/local-engine.ts'
import { oneLane } from './embedded/one-lane.ts'
import { databaseOn } from './embedded/open-embedded.ts'
import { readMigrations } from './migrations/migration-files.ts'
import { openDatabase } from './open.ts'

/**
 * Opens a migrated database without rows, on this server or embedded, which is gone when it is closed. An embedded one is
 * kept in memory. Since starting PGlite takes longer than most tests, the next test file of the same worker gets it again
 * with its tables emptied: a test that changes the schema opens an {@link openEmptyDatabase | empty database} instead.
 */
export async function openScratchDatabase(serverUrl?: string): Promise<Database> {
  if (serverUrl !== undefined) {
    const { url, drop } = await createScratchDatabase(serverUrl)
    const database = await openDatabase({ kind: 'server', url })
    await database.migrate()
    await database.sql.query(await truncateAll(database))
    return { ...database, close: () => database.close().finally(drop) }
  }
  const database =
    idle.pop() ?? databaseOn(localEngine(await PGlite.create({ loadDataDir: await migrated() })))
  let isClosed = false
  // What a file has left running must not reach the database of the next one.
  const sql: Sql = {
    query: (...statement) =>
      isClosed ? Promise.reject(new Error('the database is closed')) : database.sql.query(...statement),
  }
  return {
    ...database,
    sql,
    lanes: oneLane({ sql, prisma: database.prisma }),
    async close() {
      isClosed = true
      await database.sql.query(await truncateAll(database))
      idle.push(database)
    },
  }
}

/** Opens a database in which not even the migrations have run; it is gone when it is closed. */
export async function openEmptyDatabase(serverUrl?: string): Promise<Database> {
  if (serverUrl === undefined) return databaseOn(await openEmptyEngine())
  const { url, drop } = await createScratchDatabase(serverUrl, { template: undefined })
  const database = await openDatabase({ kind: 'server', url })
  return { ...database, close: () => database.close().finally(drop) }
}

/** Embedded databases of this worker that no test file uses at present. */
const idle: Database[] = []

async function truncateAll({ sql }: Database): Promise<string> {
  const tables = await sql.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'",
  )
  const names = tables.map(({ name }) => name).join(', ')
  // The audit log refuses it as long as its triggers are there.
  return `DO $$ BEGIN
    ALTER TABLE audit_events DISABLE TRIGGER USER;
    TRUNCATE ${names} RESTART IDENTITY CASCADE;
    ALTER TABLE audit_events ENABLE TRIGGER USER;
  END $$`
}

export interface ScratchDatabase {
  readonly url: string
  drop(): Promise<void>
}

/**
 * Creates a database on this server. Within a test run it is a copy of the run's template, which is migrated and has the
 * administrator of `test/support/gateway-template.ts`; elsewhere, or without a template, it is empty.
 */
export async function createScratchDatabase(
  serverUrl: string,
  { template }: { template: string | undefined } = { template: process.env.TEST_TEMPLATE_DATABASE },
): Promise<ScratchDatabase> {
  const name = `trunkline_scratch_${randomUUID().replaceAll('-', '')}`
  const url = new URL(serverUrl)
  url.pathname = name
  const source = template === undefined ? '' : ` TEMPLATE ${template}`
  await runOn(serverUrl, `CREATE DATABASE ${name}${source}`)
  return { url: url.href, drop: () => runOn(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) }
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Kept from one run of the tests to the next. */
export const CACHE: string = join(import.meta.dirname, '../../../node_modules/.cache/trunkline')

/** An engine without any table, in memory. */
export async function openEmptyEngine(): Promise<Engine> {
  return localEngine(await createEmptyPglite())
}

async function createEmptyPglite(): Promise<PGlite> {
  return PGlite.create({ loadDataDir: await empty() })
}

/** Archives of data directories, since PGlite takes several times as long to initialize one as to unpack it. */
const empty = archiveOf('empty-gz', () => PGlite.create())
const migrated = archiveOf('migrated-gz', async () => {
  const pglite = await createEmptyPglite()
  await databaseOn(localEngine(pglite)).migrate()
  return pglite
})

function archiveOf(name: string, make: () => Promise<PGlite>): () => Promise<Blob> {
  const archive = async () => {
    const path = await keptInCache(name, async (file) => {
      const pglite = await make()
      const dump = await pglite.dumpDataDir('none')
      await pglite.close()
      // An eighth of the size, for a quarter of a second.
      await writeFile(file, gzipSync(await dump.bytes(), { level: 1 }))
    })
    return new Blob([gunzipSync(await readFile(path))])
  }
  let opened: Promise<Blob> | undefined
  return () => {
    opened ??= markRejectionHandled(archive())
    return opened
  }
}

/** Returns the path of a file or folder that is made once for each version of PGlite and of the migrations. */
export async function keptInCache(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const version = createHash('sha256')
    .update(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
    .update(JSON.stringify(await readMigrations()))
    .digest('hex')
  const kept = join(CACHE, `${name}-${version.slice(0, 16)}`)
  if (existsSync(kept)) return kept
  await mkdir(CACHE, { recursive: true })
  const making = `${kept}-${randomUUID()}`
  await make(making)
  // Another process may have been faster; either copy will do.
  await rename(making, kept).catch((error) => {
    if (!existsSync(kept)) throw error
  })
  return kept
}

// The workers of a test run would each make it, all at the same time, so its global setup runs this module before them.
if (import.meta.main) await migrated()
