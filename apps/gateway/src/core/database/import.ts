import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import { isConnectionError } from './connection-error.ts'
import type { Sql } from './database.ts'
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportStart,
  fileProblem,
  TransferError,
  tablesToMove,
} from './export-format.ts'
import { appliedMigrations } from './migrate.ts'
import { SESSION_SETTINGS } from './session-settings.ts'
import { unusableDatabase } from './unusable-database.ts'

/**
 * Fills an empty, migrated PostgreSQL database from a file of {@link exportDatabase}, in one transaction: all of it is
 * there afterwards, or nothing. Returns how many rows each table got.
 *
 * @throws {@link TransferError}
 */
export async function importDatabase(url: string, file: string): Promise<ExportEnd['end']> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // A connection that breaks rejects the statement under way; without a listener the event would end the process.
  client.on('error', () => undefined)
  try {
    await connect(client)
    await client.query(`${SESSION_SETTINGS}; BEGIN`)
    const counts = await importLines(sqlOf(client), linesOf(file))
    await client.query('COMMIT')
    // Until the server gets to it by itself, its plans would be those for empty tables.
    await client.query('ANALYZE')
    return counts
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || isConnectionError(error)) throw error
    throw new TransferError(`The database refused the file's rows: ${error.message}.`, { cause: error })
  } finally {
    // Takes back what was not committed.
    await client.end()
  }
}

const CONNECT_TIMEOUT_MS = 10_000

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    throw unusableDatabase('server', error)
  }
}

/** PostgreSQL reads a row as it wrote it: no value passes through JavaScript's numbers and dates. */
async function importLines(sql: Sql, lines: AsyncIterable<string>): Promise<ExportEnd['end']> {
  const tables = await tablesToMove(sql)
  const hash = createHash('sha256')
  let batch: Batch | undefined
  for await (const line of lines) {
    const entry = parse(line)
    if (batch === undefined) {
      await checkTarget(sql, entry, tables)
      batch = { table: '', lines: [], characters: 0 }
    } else if ('end' in entry) {
      await write(sql, batch)
      const { end, sha256 } = entry as unknown as ExportEnd
      if (sha256 !== hash.digest('hex'))
        throw new TransferError('The file was changed: its checksum is wrong.')
      await checkCounts(sql, tables, end)
      return end
    } else {
      const table = tableOf(entry, tables)
      if (table !== batch.table || batch.characters > CHARACTERS_AT_ONCE) {
        await write(sql, batch)
        batch = { table, lines: [], characters: 0 }
      }
      batch.lines.push(line)
      batch.characters += line.length
    }
    hash.update(`${line}\n`)
  }
  throw new TransferError('The file is cut off: its last line is missing.')
}

/** Rows of one table, as lines of the file. */
interface Batch {
  readonly table: string
  readonly lines: string[]
  characters: number
}

const CHARACTERS_AT_ONCE = 500_000

async function write(sql: Sql, { table, lines }: Batch): Promise<void> {
  if (lines.length === 0) return
  const name = pg.escapeIdentifier(table)
  const statement = `INSERT INTO ${name} SELECT r.*
    FROM jsonb_array_elements($1::jsonb) AS line, jsonb_populate_record(NULL::${name}, line -> 'row') AS r`
  await sql.query(statement, [`[${lines.join(',')}]`])
}

/** Also keeps a gateway that starts meanwhile from writing: its rows would stand among those of the file. */
async function checkTarget(sql: Sql, entry: Entry, tables: readonly string[]): Promise<void> {
  const { trunklineExport, migrations } = entry as Partial<ExportStart>
  if (trunklineExport !== EXPORT_FORMAT || migrations === undefined) {
    throw new TransferError(`The file is no export of format ${EXPORT_FORMAT}.`)
  }
  const applied = await appliedMigrations(sql)
  if (applied.join() !== migrations.join()) {
    throw new TransferError(
      `The database has other migrations than the file: run "trunkline migrate" of the version that exported. File: ${migrations.join(', ')}. Database: ${applied.join(', ') || 'none'}.`,
    )
  }
  await sql.query(
    `LOCK TABLE ${tables.map((table) => pg.escapeIdentifier(table)).join(', ')} IN EXCLUSIVE MODE`,
  )
  const filled = Object.entries(await countRows(sql, tables)).filter(([, rows]) => rows > 0)
  if (filled.length > 0) {
    throw new TransferError(`The database is not empty: ${filled.map(([table]) => table).join(', ')}.`)
  }
}

async function checkCounts(sql: Sql, tables: readonly string[], expected: ExportEnd['end']): Promise<void> {
  for (const [table, rows] of Object.entries(await countRows(sql, tables))) {
    if (rows !== expected[table]) {
      throw new TransferError(`${table}: ${expected[table]} rows were exported, ${rows} arrived.`)
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
    throw new TransferError(`The file is broken at: ${line.slice(0, 80)}`, { cause })
  }
  throw new TransferError(`The file is broken at: ${line.slice(0, 80)}`)
}

function tableOf({ table }: Entry, tables: readonly string[]): string {
  const known = tables.find((name) => name === table)
  if (known === undefined)
    throw new TransferError(`The file has rows of a table that there is not: ${table}.`)
  return known
}

/** Not by readline, which also breaks lines at U+2028, and that may stand in a text. */
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
    throw fileProblem(file, error)
  }
}

function sqlOf(client: pg.Client): Sql {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      return (await client.query(text, [...values])).rows as Row[]
    },
  }
}
