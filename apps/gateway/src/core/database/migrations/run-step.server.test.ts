import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPool, poolSql } from '#core/database/pool.ts'
import { createScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { MigrationConnection } from './migration-connection.ts'
import { runStep } from './run-step.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const serverUrl = process.env.E2E_DATABASE_URL

describe.runIf(serverUrl)('server', () => {
  let pool: pg.Pool
  let connection: MigrationConnection
  let other: pg.Client
  let finished: number
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    const { url, drop } = await createScratchDatabase(serverUrl ?? '', { template: undefined })
    pool = openPool({ connectionString: url, max: 1, idleTimeoutMillis: 0 })
    other = new pg.Client({ connectionString: url, application_name: 'the other' })
    await other.connect()
    closers.push(
      drop,
      () => pool.end(),
      () => other.end(),
    )
    finished = 0
    connection = {
      sql: poolSql(pool),
      isShared: true,
      async runScript(script) {
        await pool.query(script)
        if (script.includes('finished')) finished += 1
      },
      adapter: () => Promise.reject(new Error('no step needs it')),
    }
    await pool.query(`CREATE TABLE rows (id int PRIMARY KEY, twice int, name text);
      INSERT INTO rows (id, name) SELECT n, 'row ' || n % 900 FROM generate_series(1, 1000) AS n`)
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  const run = (script: string, patienceMs = 10_000) =>
    runStep(script, connection, { finish: '/* finished */ SELECT 1', patienceMs })

  test('a locked table is tried again, and those who wait behind the migration wait no longer than its lock_timeout', async () => {
    await other.query('BEGIN; SELECT FROM rows LIMIT 1')
    const migrating = run('ALTER TABLE rows ADD COLUMN more text')
    const client = new pg.Client({ connectionString: String(pool.options.connectionString) })
    await client.connect()
    closers.push(() => client.end())
    let waitedMs = 0
    // Without its bound, the first wait would last until the commit below.
    while (waitedMs < 20) {
      const startedMs = performance.now()
      await client.query("UPDATE rows SET name = 'changed' WHERE id = 1")
      waitedMs = performance.now() - startedMs
    }
    expect(finished).toBe(0)
    await other.query('COMMIT')
    await migrating
    expect(finished).toBe(1)
  })

  test('at the end of its patience a migration has changed nothing and names who holds the table', async () => {
    await other.query('BEGIN; SELECT FROM rows LIMIT 1')
    await expect(run('ALTER TABLE rows ADD COLUMN more text', 200)).rejects.toThrow(
      /could not be locked within 0\.2 s.*pid \d+ \(the other\)/,
    )
    expect(finished).toBe(0)
    await other.query('COMMIT')
    await run('ALTER TABLE rows ADD COLUMN more text')
    expect(finished).toBe(1)
  })

  test('an index is built while a transaction writes, and one that an interrupted build left behind is built anew', async () => {
    // The duplicates fail the build, which leaves an invalid index.
    const build = 'CREATE UNIQUE INDEX CONCURRENTLY "rows_name" ON "rows"("name");'
    await expect(run(build)).rejects.toThrow('could not create unique index')
    expect(await stateOf('rows_name')).toEqual([{ valid: false }])
    await other.query('DELETE FROM rows WHERE id > 900')
    await run(build)
    expect(await stateOf('rows_name')).toEqual([{ valid: true }])
    // The process was killed before this was recorded.
    await run(build)
    await run('DROP INDEX CONCURRENTLY "rows_name"')
    expect(await stateOf('rows_name')).toEqual([])
    await run('DROP INDEX CONCURRENTLY "rows_name"')
    expect(finished).toBe(4)
  })

  test('rows are filled slice by slice, and again from the first slice if it was interrupted', async () => {
    const slices = `-- slices
      WITH slice AS (
        SELECT id FROM rows WHERE id > coalesce($1::int, 0) ORDER BY id LIMIT 300
      ), filled AS (
        UPDATE rows r SET twice = 2 * r.id FROM slice s WHERE r.id = s.id AND r.twice IS NULL
      )
      SELECT max(id) FROM slice`
    await other.query('UPDATE rows SET twice = 0 WHERE id <= 300')
    const statements = vi.spyOn(connection.sql, 'query')
    await run(slices)
    expect(statements.mock.calls.map(([, values]) => values)).toEqual(
      expect.arrayContaining([[null], [300], [600], [900], [1000]]),
    )
    const { rows } = await pool.query<{ filled: string }>(
      'SELECT count(*) FILTER (WHERE twice = 2 * id) AS filled FROM rows',
    )
    expect(rows).toEqual([{ filled: 700 }])
    expect(finished).toBe(1)
  })

  test('what takes something away waits for processes that are too old for it', async () => {
    await pool.query(`CREATE TABLE settings (name text PRIMARY KEY, value text);
      CREATE TABLE instances (id int, build text, stopped_at timestamptz, lease_until timestamptz);
      INSERT INTO instances VALUES (1, '2026_old', NULL, now() + interval '1 hour'),
        (2, '2026_old', NULL, now() - interval '1 s'), (3, '2026_old', now(), now() + interval '1 hour'),
        (4, '2027_new', NULL, now() + interval '1 hour')`)
    const contract = `INSERT INTO "settings" (name, value) VALUES ('min_build', '2027_new');
      ALTER TABLE rows DROP COLUMN twice`
    await expect(run(contract)).rejects.toThrow(/older than 2027_new.*: 1 \(2026_old\)\. Replace/)
    await pool.query('UPDATE instances SET stopped_at = now() WHERE id = 1')
    await run(contract)
    expect(finished).toBe(1)
  })

  async function stateOf(index: string) {
    const { rows } = await pool.query(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [index],
    )
    return rows
  }
})
