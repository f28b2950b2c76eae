import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { exportDatabase } from './export.ts'
import { filledTables, importInto } from './import.ts'

let database: Database
let target: Database
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-export-'))
  database = await openScratchDatabase()
  target = await openScratchDatabase()
  await database.sql.query(
    "INSERT INTO settings SELECT n::text, repeat('x', 100) FROM generate_series(1, 3000) n",
  )
})
afterAll(async () => {
  await Promise.all([database.close(), target.close()])
  await rm(folder, { recursive: true })
})

test('concurrent exports each write a complete file, of one JSON object per line, which only its owner can read', async () => {
  const files = Array.from({ length: 3 }, (_, index) => join(folder, `at-once-${index}.ndjson`))
  const counts = await Promise.all(files.map((file) => exportDatabase(database, file)))
  for (const [index, file] of files.entries()) {
    expect(counts[index]).toMatchObject({ settings: 3_000 })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const text = await readFile(file, 'utf8')
    const last = text.trimEnd().lastIndexOf('\n') + 1
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line)).at(-1)).toEqual({
      end: counts[index],
      sha256: createHash('sha256').update(text.slice(0, last)).digest('hex'),
    })
  }
})

test('a failed export leaves no file and does not affect the next one', async () => {
  const sql = {
    async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
      if (text.startsWith('CREATE TEMP TABLE')) throw new Error('no room')
      return database.sql.query<Row>(text, values)
    },
  }
  const failing = exportDatabase({ ...database, sql }, join(folder, 'failing.ndjson'))
  await expect(failing).rejects.toThrow('no room')
  expect(await readdir(folder)).not.toContain('failing.ndjson')
  const after = join(folder, 'after.ndjson')
  await expect(exportDatabase(database, after)).resolves.toMatchObject({ settings: 3_000 })
})

test('an export never replaces a file, and says what is wrong with a path', async () => {
  const file = join(folder, 'taken.ndjson')
  await writeFile(file, 'mine')
  await expect(exportDatabase(database, file)).rejects.toThrow(`The file ${file} already exists.`)
  expect(await readFile(file, 'utf8')).toBe('mine')
  await expect(exportDatabase(database, '/dev/null/export.ndjson')).rejects.toThrow(
    /^The file \/dev\/null\/export\.ndjson cannot be used: ENOTDIR/,
  )
})

test.each([
  ['cut off', (text: string) => text.slice(0, text.lastIndexOf('{"end"')), 'cut off'],
  ['cut in a line', (text: string) => text.slice(0, -300), 'cut off'],
  ['empty', () => '', 'broken'],
  ['changed', (text: string) => text.replace('xxx"', 'xxy"'), 'checksum'],
  ['short of a row', (text: string) => text.replace(/\n\{"row[^\n]+/, ''), 'checksum'],
  ['not JSON', (text: string) => text.replace('\n{"', '\n{'), 'broken'],
  ['of an unknown table', (text: string) => text.replaceAll('"settings"', '"others"'), 'broken'],
  ['of another format', (text: string) => text.replace('Export":1', 'Export":2'), 'format 1'],
  ['of other migrations', (text: string) => text.replace('_baseline', '_other'), 'other migrations'],
])('a file that is %s leaves the target empty', async (name, breakIt, message) => {
  const file = join(folder, `${name}.ndjson`)
  await exportDatabase(database, file)
  const text = await readFile(file, 'utf8')
  expect(breakIt(text)).not.toBe(text)
  await writeFile(file, breakIt(text))

  const refused = importInto(target.sql, file)
  await expect(refused).rejects.toThrow(OperatorError)
  await expect(refused).rejects.toThrow(message)
  await target.sql.query('ROLLBACK')
  expect(await filledTables(target.sql)).toEqual([])
})
