import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import type { Database, Sql } from '#core/database/database.ts'
import { appliedMigrations } from '#core/database/migrations/migrate.ts'
import { migrationNames } from '#core/database/migrations/migration-files.ts'
import { SESSION_SETTINGS } from '#core/database/session-settings.ts'
import { unusableDatabaseError } from '#core/database/unusable-database.ts'
import { isConnectionError } from '#core/errors/connection-error.ts'
import { OperatorError } from '#core/errors/operator-error.ts'
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportStart,
  exportedTables,
  fileError,
} from './export-format.ts'

/**
 * Fills an empty, migrated PostgreSQL database from a file of {@link exportDatabase}. It runs in one transaction, so that the
 * database contains all rows afterwards or none.
 *
 * @returns the number of rows of each table
 * @throws OperatorError if the file is damaged or does not fit the database
 */
export async function importDatabase(url: string, file: string): Promise<ExportEnd['end']> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // A lost connection rejects the current statement and also emits an event, which without a listener would end the process.
  client.on('error', () => undefined)
  try {
    await connect(client)
    await client.query(`${SESSION_SETTINGS}; BEGIN`)
    const counts = await importLines(sqlOf(client), linesOf(file))
    await client.query('COMMIT')
    // Otherwise statements would be planned for empty tables until the server's own ANALYZE.
    await client.query('ANALYZE')
    return counts
  } catch (error) {
    throw refusedRows(error)
  } finally {
    // Closing the connection rolls back an open transaction.
    await client.end()
  }
}

function refusedRows(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || isConnectionError(error)) return error
  return new OperatorError(`The database refused the file's rows: ${error.message}.`, { cause: error })
}

const CONNECT_TIMEOUT_MS = 10_000

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    throw unusableDatabaseError('server', error)
  }
}

/**
 * Fills an empty, migrated embedded database, which nothing else uses, from a file of {@link exportDatabase}. If it fails, the
 * database must be thrown away: when its engine is opened again in between, the transaction is lost and later rows stay.
 *
 * @returns the number of rows of each table
 * @throws OperatorError if the file is damaged or does not fit the database
 */
export function importIntoEmbedded(
  { sql, patiently }: Pick<Database, 'sql' | 'patiently'>,
  file: string,
): Promise<ExportEnd['end']> {
  return patiently(async () => {
    try {
      await sql.query('BEGIN')
      const counts = await importLines(sql, linesOf(file))
      await sql.query('COMMIT')
      await sql.query('ANALYZE')
      return counts
    } catch (error) {
      throw refusedRows(error)
    }
  })
}

/** Refuses a database that contains rows, whatever its migrations are. */
export async function requireEmpty(sql: Sql): Promise<void> {
  const tables = await exportedTables(sql)
  if (tables.length > 0) await requireNoRows(sql, tables)
}

/** Passes rows to PostgreSQL as the text that it wrote, so that no value loses precision as a JavaScript number or date. */
async function importLines(sql: Sql, lines: AsyncIterable<string>): Promise<ExportEnd['end']> {
  // The rows arrive with the events of the audit log that tell where they come from.
  await sql.query(`SELECT set_config('trunkline.doing', '{"actor":"import"}', true)`)
  const tables = await exportedTables(sql)
  const hash = createHash('sha256')
  let batch: Batch | undefined
  for await (const line of lines) {
    const entry = parse(line)
    if (batch === undefined) {
      await checkTarget(sql, entry, tables)
      batch = { table: '', lines: [], characters: 0 }
    } else if ('end' in entry) {
      await insertBatch(sql, batch)
      const { end, sha256 } = entry as unknown as ExportEnd
      if (sha256 !== hash.digest('hex'))
        throw new OperatorError('The file was changed: its checksum is wrong.')
      await checkCounts(sql, tables, end)
      await sql.query('SELECT audit_append($1::jsonb)', [IMPORTED])
      return end
    } else {
      const table = tableOf(entry, tables)
      if (table !== batch.table || batch.characters > BATCH_CHARACTERS_MAX) {
        await insertBatch(sql, batch)
        batch = { table, lines: [], characters: 0 }
      }
      batch.lines.push(line)
      batch.characters += line.length
    }
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
async function checkTarget(sql: Sql, entry: Entry, tables: readonly string[]): Promise<void> {
  const { trunklineExport, migrations } = entry as Partial<ExportStart>
  if (trunklineExport !== EXPORT_FORMAT || migrations === undefined) {
    throw new OperatorError(`The file is not an export of format ${EXPORT_FORMAT}.`)
  }
  const known = new Set(await migrationNames())
  const unknown = migrations.filter((name) => !known.has(name))
  const applied = await appliedMigrations(sql)
  if (unknown.length > 0) {
    throw new OperatorError(
      `The file is of a newer or other version than this program and has other migrations: import it with the version that exported. Unknown here: ${unknown.join(', ')}.`,
    )
  }
  if (applied.join() !== migrations.join()) {
    throw new OperatorError(
      `The database has other migrations than the file: run "trunkline migrate" of the version that exported. File: ${migrations.join(', ')}. Database: ${applied.join(', ') || 'none'}.`,
    )
  }
  await sql.query(
    `LOCK TABLE ${tables.map((table) => pg.escapeIdentifier(table)).join(', ')} IN EXCLUSIVE MODE`,
  )
  await requireNoRows(sql, tables)
}

async function requireNoRows(sql: Sql, tables: readonly string[]): Promise<void> {
  const filled = Object.entries(await countRows(sql, tables)).filter(([, rows]) => rows > 0)
  if (filled.length > 0) {
    throw new OperatorError(`The database is not empty: ${filled.map(([table]) => table).join(', ')}.`)
  }
}

async function checkCounts(sql: Sql, tables: readonly string[], expected: ExportEnd['end']): Promise<void> {
  for (const [table, rows] of Object.entries(await countRows(sql, tables))) {
    if (rows !== expected[table]) {
      throw new OperatorError(`${table}: ${expected[table]} rows were exported, ${rows} arrived.`)
    }
  }
}

async function countRows(sql: Sql, tables: readonly string[]): Promise<Record<string, number>> {
  const counts = tables.map(
    (table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM ${pg.escapeIdentifier(table)}`,
  )
  const rows = await sql.query<{ name: string; rows: number }>(counts.join(' UNION ALL '))
  return Object.fromEntries(rows.map((row) => [row.name, row.rows]))
}

type Entry = Readonly<Record<string, unknown>>

function parse(line: string): Entry {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'object' && entry !== null) return entry as Entry
  } catch (cause) {
    throw new OperatorError(`The file is broken at: ${line.slice(0, 80)}`, { cause })
  }
  throw new OperatorError(`The file is broken at: ${line.slice(0, 80)}`)
}

function tableOf({ table }: Entry, tables: readonly string[]): string {
  const known = tables.find((name) => name === table)
  if (known === undefined) throw new OperatorError(`The file has rows of an unknown table: ${table}.`)
  return known
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

function sqlOf(client: pg.Client): Sql {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      return (await client.query(text, [...values])).rows as Row[]
    },
  }
}
