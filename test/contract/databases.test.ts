import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ON_EMBEDDED_ANYWAY, ON_EMBEDDED_TOO, ON_SERVER_ALONE } from '../support/on-embedded-too.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What a test names whose subject is the database, its directory or the first start. */
const NAMES_A_DATABASE = /\b(?:databaseUrl|dataDir|DATA_DIR|isFirstStart)\b|kind: 'embedded'/
const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
  (file) => !file.endsWith('/databases.test.ts'),
)
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')

test('a file whose subject is the database or its directory runs on the embedded one too', () => {
  const listed = new Set([...ON_EMBEDDED_ANYWAY, ...ON_EMBEDDED_TOO, ...ON_SERVER_ALONE])
  expect(files.filter((file) => NAMES_A_DATABASE.test(textOf(file)) && !listed.has(file))).toEqual([])
})

test('the lists name files that exist, each once', () => {
  const listed = [...ON_EMBEDDED_ANYWAY, ...ON_EMBEDDED_TOO, ...ON_SERVER_ALONE]
  expect(new Set(listed).size).toBe(listed.length)
  for (const file of listed) expect(textOf(file), file).not.toBe('')
})

test('a file that runs on a server alone skips its tests where there is none', () => {
  for (const file of ON_SERVER_ALONE) expect(textOf(file), file).toMatch(/^describe\.(?:skip|run)If\(/m)
})
