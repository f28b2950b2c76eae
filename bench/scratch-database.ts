import { readFileSync } from 'node:fs'
import pg from 'pg'
import { createScratchDatabase as createEmpty } from '../apps/gateway/src/core/database/scratch-database.test-support.ts'
import { OTHER_CORE, pin } from './cores.ts'

export interface ScratchDatabase {
  readonly url: string
  readonly version: string
  /** Moves the sessions of this database off the server's core; false where the database server is not ours to move. */
  pinSessions(): Promise<boolean>
  /** What autovacuum does within a minute: plans made for an empty ledger would outlive the bench. */
  analyze(): Promise<void>
  /** The times of so many one-row inserts, each committed. */
  commit(count: number): Promise<number[]>
  /** Lets go of it without dropping it. */
  keep(): Promise<void>
  drop(): Promise<void>
}

const SERVER_URL =
  process.env.BENCH_DATABASE_URL ??
  process.env.TEST_DATABASE_URL ??
  'postgres://postgres@127.0.0.1:5432/postgres'

/** Drops the database when the work is done, or broken off; kept, it is told where it is. */
export async function withScratchDatabase(
  work: (database: ScratchDatabase) => Promise<void>,
  { keep = false }: { keep?: boolean | undefined } = {},
): Promise<void> {
  const database = await createScratchDatabase()
  process.once('SIGINT', () => database.drop().finally(() => process.exit(130)))
  try {
    await work(database)
  } finally {
    if (keep) {
      await database.keep()
      console.log(`Kept: ${database.url}`)
    } else await database.drop()
  }
}

/** A database of its own on the PostgreSQL server, with one session open in it. */
export async function createScratchDatabase(serverUrl = SERVER_URL): Promise<ScratchDatabase> {
  const { url, drop } = await createEmpty(serverUrl)
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  const { rows } = await session.query<{ version: string }>(
    "SELECT current_setting('server_version') AS version",
  )

  return {
    url,
    version: rows[0]?.version ?? 'unknown',
    async pinSessions() {
      const sessions = await session.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
      )
      return sessions.rows.map(({ pid }) => isPostgres(pid) && pin(pid, OTHER_CORE)).every(Boolean)
    },
    async analyze() {
      await session.query('VACUUM ANALYZE')
    },
    async commit(count) {
      // Not before: migrations want an empty schema.
      await session.query('CREATE TABLE IF NOT EXISTS bare_commit (id integer)')
      const timesMs: number[] = []
      for (let id = 0; id < count; id += 1) {
        const startedMs = performance.now()
        await session.query({ name: 'commit', text: 'INSERT INTO bare_commit VALUES ($1)', values: [id] })
        timesMs.push(performance.now() - startedMs)
      }
      return timesMs
    },
    keep: () => session.end(),
    async drop() {
      await session.end()
      await drop()
    },
  }
}

/** On another machine the same number is another process, or none. */
function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith('postgres')
  } catch {
    return false
  }
}
