import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Sql } from '#core/database/database.ts'
import { appliedMigrations } from '#core/database/migrations/migrate.ts'
import { SESSION_SETTINGS } from '#core/database/session-settings.ts'
import { unusableDatabaseError } from '#core/database/unusable-database.ts'
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportStart,
  exportedTables,
  fileError,
} from './export-format.ts'

/**
 * Fills an empty, migrated database on a server as {@link importInto} does.
 *
 * @throws OperatorError if the database cannot be used, or if the file is damaged or does not fit it
 */
export async function importIntoServer(url: string, file: string): Promise<ExportEnd['end']> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // A lost connection rejects the current statement and also emits an event, which without a listener would end the process.
  client.on('error', () => undefined)
  const sql: Sql = { query: async (text, values = []) => (await client.query(text, [...values])).rows }
  try {
    await client.connect().catch((error: unknown) => {
      throw unusableDatabaseError('server', error)
    })
    await client.query(SESSION_SETTINGS)
    return await importInto(sql, file)
  } finally {
    // Closing the connection rolls back an open transaction.
    await client.end()
  }
}

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Fills an empty, migrated database from a file of {@link exportDatabase} in one transaction, so that it contains all rows
 * afterwards or none. An embedded one must be thrown away after a failure: when its engine is opened again in between, the
 * transaction is lost and later rows stay.
 *
 * @param sql - one connection, which nothing else uses
 * @returns the number of rows of each table
 * @throws OperatorError if the file is damaged or does not fit the database
 */
export async function importInto(sql: Sql, file: string): Promise<ExportEnd['end']> {
  try {
    await sql.query('BEGIN')
    const counts = await insertLines(sql, linesOf(file))
    await sql.query('COMMIT')
    // Otherwise statements would be planned for empty tables until the server's own ANALYZE.
    await sql.query('ANALYZE')
    return counts
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || isConnectionError(error)) throw error
    throw new OperatorError(`The database refused the file's rows: ${error.message}.`, { cause: error })
  }
}

/** The tables that have rows, whatever the migrations of the database are. */
export async function filledTables(sql: Sql): Promise<string[]> {
  const tables = (await exportedTables(sql)).map(
    (table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT FROM ${pg.escapeIdentifier(table)})`,
  )
  if (tables.length === 0) return []
  return (await sql.query<{ name: string }>(tables.join(' UNION ALL '))).map(({ name }) => name)
}

/** Passes rows to PostgreSQL as the text that it wrote, so that no value loses precision as a JavaScript number or date. */
async function insertLines(sql: Sql, lines: AsyncGenerator<string>): Promise<ExportEnd['end']> {
  const first: string = (await lines.next()).value ?? ''
  const tables = await exportedTables(sql)
  await checkTarget(sql, parse(first), tables)
  // The rows arrive with the events of the audit log that tell where they come from.
  await sql.query(`SELECT set_config('trunkline.doing', '{"actor":"import"}', true)`)
  const hash = createHash('sha256').update(`${first}\n`)
  let batch: Batch = { table: '', lines: [], characters: 0 }
  for await (const line of lines) {
    const { table = '', end, sha256 } = parse(line)
    if (end !== undefined || table !== batch.table || batch.characters > BATCH_CHARACTERS_MAX) {
      await insertBatch(sql, batch)
      batch = { table, lines: [], characters: 0 }
    }
    if (end !== undefined) {
      if (sha256 !== hash.digest('hex'))
        throw new OperatorError('The file was changed: its checksum is wrong.')
      await sql.query('SELECT audit_append($1::jsonb)', [IMPORTED])
      return end
    }
    if (!tables.includes(table)) throw brokenAt(line)
    batch.lines.push(line)
    batch.characters += line.length
    hash.update(`${line}\n`)
  }
  throw new OperatorError('The file is cut off: its last line is missing.')
}

/** The event that `audit_append` adds. */
const IMPORTED = JSON.stringify({ actor: 'command', operation: 'database.import' })

/** Rows of one table, as lines of the file, which are inserted by one statement. */
interface Batch {
  readonly table: string
  readonly lines: string[]
  characters: number
}

const BATCH_CHARACTERS_MAX = 500_000

async function insertBatch(sql: Sql, { table, lines }: Batch): Promise<void> {
  if (lines.length === 0) return
  const name = pg.escapeIdentifier(table)
  const statement = `INSERT INTO ${name} SELECT r.*
    FROM jsonb_array_elements($1::jsonb) AS line, jsonb_populate_record(NULL::${name}, line -> 'row') AS r`
  await sql.query(statement, [`[${lines.join(',')}]`])
}

/** Checks that the database fits the file and is empty, and locks its tables against a gateway that starts meanwhile. */
async function checkTarget(sql: Sql, start: Line, tables: readonly string[]): Promise<void> {
  const { trunklineExport, migrations } = start
  if (trunklineExport !== EXPORT_FORMAT || migrations === undefined)
    throw new OperatorError(`The file is not an export of format ${EXPORT_FORMAT}.`)
  const applied = await appliedMigrations(sql)
  if (applied.join() !== migrations.join()) {
    const missing = migrations.filter((name) => !applied.includes(name))
    const further = applied.filter((name) => !migrations.includes(name))
    throw new OperatorError(
      `The database has other migrations than the file: use the version that exported, and run its "trunkline migrate" first. Missing: ${missing.join(', ') || 'none'}. Further ones: ${further.join(', ') || 'none'}.`,
    )
  }
  await sql.query(
    `LOCK TABLE ${tables.map((table) => pg.escapeIdentifier(table)).join(', ')} IN EXCLUSIVE MODE`,
  )
  const filled = await filledTables(sql)
  if (filled.length > 0) throw new OperatorError(`The database is not empty: ${filled.join(', ')}.`)
}

type Line = Partial<ExportStart & ExportEnd & { readonly table: string }>

function parse(line: string): Line {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'object' && entry !== null) return entry
  } catch (cause) {
    throw brokenAt(line, cause)
  }
  throw brokenAt(line)
}

function brokenAt(line: string, cause?: unknown): OperatorError {
  return new OperatorError(`The file is broken at: ${line.slice(0, 80)}`, { cause })
}

/** Splits the file at line feeds. `readline` would also split at U+2028, which may occur in a text. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const bytes = createReadStream(file)
  const texts = file.endsWith('.gz') ? bytes.compose(createGunzip()) : bytes
  let rest = ''
  try {
    for await (const text of texts.setEncoding('utf8')) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw fileError(file, error)
  }
}
