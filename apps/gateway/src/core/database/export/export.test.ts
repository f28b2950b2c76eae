import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { OperatorError } from '#core/errors/operator-error.ts'
import { exportDatabase } from './export.ts'

let database: Database
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-export-'))
  database = await openScratchDatabase()
  await database.sql.query(
    "INSERT INTO settings SELECT n::text, repeat('x', 100) FROM generate_series(1, 3000) n",
  )
})
afterAll(async () => {
  await database.close()
  await rm(folder, { recursive: true })
})

test('concurrent exports each write a complete file', async () => {
  const files = Array.from({ length: 6 }, (_, index) => join(folder, `at-once-${index}.ndjson`))
  const counts = await Promise.all(files.map((file) => exportDatabase(database, file)))
  for (const [index, file] of files.entries()) {
    expect(counts[index]).toMatchObject({ settings: 3_000 })
    const text = await readFile(file, 'utf8')
    const last = text.trimEnd().lastIndexOf('\n') + 1
    const { end, sha256 } = JSON.parse(text.slice(last))
    expect(end).toEqual(counts[index])
    expect(createHash('sha256').update(text.slice(0, last)).digest('hex')).toBe(sha256)
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

  const file = join(folder, 'taken.ndjson')
  const [first, second] = await Promise.allSettled([
    exportDatabase(database, file),
    exportDatabase(database, file),
  ])
  expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected'])
  const refused = first.status === 'rejected' ? first.reason : second.status === 'rejected' && second.reason
  expect(refused).toBeInstanceOf(OperatorError)
  await expect(exportDatabase(database, join(folder, 'after.ndjson'))).resolves.toMatchObject({
    settings: 3_000,
  })
})

test('a path below a file is rejected with its name', async () => {
  await expect(exportDatabase(database, '/dev/null/export.ndjson')).rejects.toThrow(
    /^The file \/dev\/null\/export\.ndjson cannot be used: ENOTDIR/,
  )
})
