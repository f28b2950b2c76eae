import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ESSENTIAL, ON_EMBEDDED_ANYWAY, ON_EMBEDDED_TOO, ON_SERVER_ALONE } from '../support/suites.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What a test names whose subject is the database, its directory or the first start. */
const NAMES_A_DATABASE = /\b(?:databaseUrl|dataDir|DATA_DIR|isFirstStart)\b|kind: 'embedded'/
const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).filter(
  (file) => !file.endsWith('/suites.test.ts'),
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

test('every essential file exists, and no essential file needs a server or a browser', () => {
  expect(new Set(ESSENTIAL).size).toBe(ESSENTIAL.length)
  for (const file of ESSENTIAL) expect(textOf(file), file).not.toMatch(/support\/browser/)
  expect(ESSENTIAL.filter((file) => ON_SERVER_ALONE.includes(file))).toEqual([])
})

test('CONTRIBUTING.md has a row for every folder of test/, with the commands that run it', () => {
  const runsIn = (folder: string) => {
    const inFolder = files.filter((file) => file.startsWith(`${folder}/`))
    const some = inFolder.some((file) => ESSENTIAL.includes(file))
    const others = inFolder.some((file) => !ESSENTIAL.includes(file))
    return [...(some ? ['`test`'] : []), ...(others ? ['`test:rest`'] : [])].join(', ')
  }
  const folders = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  const rows = [...textOf('CONTRIBUTING.md').matchAll(/^\| `(test\/\w+)` +\|[^|]+\| ([^|]+?) +\|/gm)]
  expect(Object.fromEntries(rows.map(([, folder, command]) => [folder, command]))).toEqual(
    Object.fromEntries([...folders].map((folder) => [folder, runsIn(folder)])),
  )
})
