import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { handled } from '#core/handled.ts'
import type { Database, Sql } from './database.ts'
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportStart,
  fileProblem,
  TransferError,
  tablesToMove,
} from './export-format.ts'
import { appliedMigrations } from './migrate.ts'

/**
 * Writes every row of an embedded database to a new file, as of one moment; the database stays in use meanwhile. Gzipped
 * where the name ends in `.gz`. Returns how many rows each table gave. Of several exports at once, each waits for the
 * one before it: they share the database's only connection, and with it the name of the copy.
 *
 * @throws {@link TransferError}
 */
export async function exportDatabase({ kind, sql }: Database, file: string): Promise<ExportEnd['end']> {
  // The copy below belongs to a connection, of which a server's pool has many.
  if (kind === 'server')
    throw new TransferError('Only an embedded database is exported; for a server there is pg_dump.')
  const handle = await openNew(file)
  const before = handled(running.get(sql) ?? Promise.resolve())
  const exporting = handled(before.then(() => writeTo(handle, sql, file)))
  // The next one starts whether this one succeeded or not.
  running.set(
    sql,
    exporting.then(
      () => undefined,
      () => undefined,
    ),
  )
  return exporting
}

/** The end of the last export of each database that has one. */
const running = new WeakMap<Sql, Promise<void>>()

async function writeTo(handle: FileHandle, sql: Sql, file: string): Promise<ExportEnd['end']> {
  const counts: Record<string, number> = {}
  try {
    await takeCopy(sql)
    const compression = file.endsWith('.gz') ? createGzip() : new PassThrough()
    await pipeline(linesOf(sql, counts), compression, handle.createWriteStream())
    return counts
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(file, { force: true })
    throw fileProblem(file, error)
  } finally {
    await sql.query('DROP TABLE IF EXISTS export_copy')
  }
}

/** With everything that the database knows in it, the file is for its owner alone. */
async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    throw fileProblem(file, error)
  }
}

/**
 * One statement sees one moment. A transaction would do the same, and hold the only connection until the file is written.
 * A temporary table ends with the process, however that ends.
 */
async function takeCopy(sql: Sql): Promise<void> {
  const rows = (await tablesToMove(sql)).map(
    (table) =>
      `SELECT '${table}' AS name, jsonb_build_object('table', '${table}', 'row', to_jsonb(t))::text AS line FROM "${table}" t`,
  )
  await sql.query(`CREATE TEMP TABLE export_copy AS
    SELECT row_number() OVER () AS n, name, line FROM (${rows.join(' UNION ALL ')}) AS every`)
  await sql.query('CREATE INDEX ON export_copy (n)')
}

const ROWS_AT_ONCE = 1_000

async function* linesOf(sql: Sql, counts: Record<string, number>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  const start: ExportStart = { trunklineExport: EXPORT_FORMAT, migrations: await appliedMigrations(sql) }
  let text = `${JSON.stringify(start)}\n`
  for (const table of await tablesToMove(sql)) counts[table] = 0
  for (let n = 0; text !== ''; n += ROWS_AT_ONCE) {
    hash.update(text)
    yield text
    const rows = await sql.query<{ name: string; line: string }>(
      'SELECT name, line FROM export_copy WHERE n > $1 AND n <= $2 ORDER BY n',
      [n, n + ROWS_AT_ONCE],
    )
    for (const { name } of rows) counts[name] = (counts[name] ?? 0) + 1
    text = rows.map(({ line }) => `${line}\n`).join('')
  }
  const end: ExportEnd = { end: counts, sha256: hash.digest('hex') }
  yield `${JSON.stringify(end)}\n`
}
