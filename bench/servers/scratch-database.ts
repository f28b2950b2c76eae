import { readFileSync } from 'node:fs'
import pg from 'pg'
import { createScratchDatabase as createEmpty } from '../../apps/gateway/src/core/database/scratch-database.test-support.ts'
import { OTHER_CORE, pin } from './cores.ts'

export type ScratchDatabase = Awaited<ReturnType<typeof createScratchDatabase>>

export const SERVER_URL =
  process.env.BENCH_DATABASE_URL ??
  process.env.TEST_DATABASE_URL ??
  'postgres://postgres@127.0.0.1:5432/postgres'

/** Creates a database on the PostgreSQL server and opens one session in it. */
export async function createScratchDatabase(serverUrl = SERVER_URL) {
  const { url, drop } = await createEmpty(serverUrl)
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  const { rows } = await session.query<{ version: string }>(
    "SELECT current_setting('server_version') AS version",
  )

  return {
    url,
    version: rows[0]?.version ?? 'unknown',
    /** Moves the sessions of this database off the server's core. Returns false without the permission to do so. */
    async pinSessions(): Promise<boolean> {
      const sessions = await session.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
      )
      return sessions.rows.map(({ pid }) => isPostgres(pid) && pin(pid, OTHER_CORE)).every(Boolean)
    },
    /** Does what autovacuum would do within a minute. Otherwise plans for an empty ledger would be used for the whole bench. */
    async analyze(): Promise<void> {
      await session.query('VACUUM ANALYZE')
    },
    /** Returns the durations of `count` inserts of one row, each committed. */
    async commit(count: number): Promise<number[]> {
      // Only after the migrations, which require an empty schema.
      await session.query('CREATE TABLE IF NOT EXISTS bare_commit (id integer)')
      const timesMs: number[] = []
      for (let id = 0; id < count; id += 1) {
        const startedMs = performance.now()
        await session.query({ name: 'commit', text: 'INSERT INTO bare_commit VALUES ($1)', values: [id] })
        timesMs.push(performance.now() - startedMs)
      }
      return timesMs
    },
    /** Closes the connection without dropping the database, and prints its URL. */
    async keep(): Promise<void> {
      await session.end()
      console.log(`Kept: ${url}`)
    },
    async drop(): Promise<void> {
      await session.end()
      await drop()
    },
  }
}

/** On another machine the same process id belongs to another process or to none. */
function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith('postgres')
  } catch {
    return false
  }
}
