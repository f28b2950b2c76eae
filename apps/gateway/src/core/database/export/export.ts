import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { appliedMigrations } from '#core/database/migrations/migrate.ts'
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportStart,
  exportedTables,
  fileError,
} from './export-format.ts'

/**
 * Writes a consistent snapshot of all rows of an embedded database to a new file, while the database stays in use. The file
 * is gzipped if its name ends in `.gz`.
 *
 * @returns the number of rows of each table
 * @throws OperatorError if the database is a server or the file cannot be written
 */
export async function exportDatabase(
  { kind, sql, patiently }: Database,
  file: string,
): Promise<ExportEnd['end']> {
  // The temporary table belongs to one connection, but a server's pool has many.
  if (kind === 'server')
    throw new OperatorError('Only an embedded database is exported; for a server there is pg_dump.')
  // Only for its owner, since it contains password hashes and signing keys.
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw fileError(file, error)
  })
  copies += 1
  const copy = `export_copy_${copies}`
  const counts: Record<string, number> = {}
  try {
    await patiently(() => takeCopy(sql, copy))
    const compression = file.endsWith('.gz') ? createGzip() : new PassThrough()
    await pipeline(linesOf(sql, copy, counts), compression, handle.createWriteStream())
    return counts
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(file, { force: true })
    throw fileError(file, error)
  } finally {
    await sql.query(`DROP TABLE IF EXISTS ${copy}`)
  }
}

/** Gives the temporary tables of concurrent exports, which share the database's only connection, a name each. */
let copies = 0

/**
 * Copies all rows to a temporary table in one statement, which sees a consistent snapshot. A transaction would give the same
 * snapshot, but occupy the only connection until the file is written. The table disappears with the process.
 */
async function takeCopy(sql: Sql, copy: string): Promise<void> {
  const rows = (await exportedTables(sql)).map(
    (table) =>
      `SELECT '${table}' AS name, jsonb_build_object('table', '${table}', 'row', to_jsonb(t))::text AS line FROM "${table}" t`,
  )
  await sql.query(`CREATE TEMP TABLE ${copy} AS
    SELECT row_number() OVER () AS n, name, line FROM (${rows.join(' UNION ALL ')}) AS every`)
  await sql.query(`CREATE INDEX ON ${copy} (n)`)
}

const ROWS_AT_ONCE = 1_000

async function* linesOf(sql: Sql, copy: string, counts: Record<string, number>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  const start: ExportStart = { trunklineExport: EXPORT_FORMAT, migrations: await appliedMigrations(sql) }
  let text = `${JSON.stringify(start)}\n`
  for (const table of await exportedTables(sql)) counts[table] = 0
  for (let n = 0; text !== ''; n += ROWS_AT_ONCE) {
    hash.update(text)
    yield text
    const rows = await sql.query<{ name: string; line: string }>(
      `SELECT name, line FROM ${copy} WHERE n > $1 AND n <= $2 ORDER BY n`,
      [n, n + ROWS_AT_ONCE],
    )
    for (const { name } of rows) counts[name] = (counts[name] ?? 0) + 1
    text = rows.map(({ line }) => `${line}\n`).join('')
  }
  const end: ExportEnd = { end: counts, sha256: hash.digest('hex') }
  yield `${JSON.stringify(end)}\n`
}
