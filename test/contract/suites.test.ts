import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importedNames, withImportedFiles } from '../support/imports.ts'
import { digestsOfHeavyFiles } from '../support/proven-files.ts'
import {
  ESSENTIAL,
  EXHAUSTIVE,
  HEAVY,
  ON_EITHER,
  ON_EMBEDDED_ALONE,
  ON_EMBEDDED_TOO,
  ON_SERVER_ALONE,
} from '../support/suites.ts'
import { titlesIn } from '../support/test-titles.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What a test names whose subject is the database, its directory or the first start. */
const NAMES_A_DATABASE = /\b(?:databaseUrl|dataDir|DATA_DIR|isFirstStart)\b|kind: 'embedded'/
const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).filter(
  (file) => !file.endsWith('/suites.test.ts'),
)
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
/** What a program is started with, and a browser. */
const STARTS_A_PROCESS = /^(?:node:child_process|playwright-core)$/
/** Whether a file, or what it imports of `test/`, can start a process. */
const canStartProcess = (file: string) =>
  [...withImportedFiles(file)].flatMap(importedNames).some((name) => STARTS_A_PROCESS.test(name))

/** Each says on which kind of database its files run. */
const LISTED = [...ON_EITHER, ...ON_EMBEDDED_ALONE, ...ON_EMBEDDED_TOO, ...ON_SERVER_ALONE]

test('a list says on which kind of database a file runs that names the database or its directory', () => {
  const listed = new Set(LISTED)
  expect(files.filter((file) => NAMES_A_DATABASE.test(textOf(file)) && !listed.has(file))).toEqual([])
})

test('the lists of suites name files that exist, each once', () => {
  expect(new Set(LISTED).size).toBe(LISTED.length)
  for (const file of LISTED) expect(textOf(file), file).not.toBe('')
})

test('a file that runs on a server alone skips its tests where there is none', () => {
  for (const file of ON_SERVER_ALONE) expect(textOf(file), file).toMatch(/^describe\.(?:skip|run)If\(/m)
})

test('every essential file exists, and no essential file needs a server or a browser', () => {
  expect(new Set(ESSENTIAL).size).toBe(ESSENTIAL.length)
  for (const file of ESSENTIAL) expect(textOf(file), file).not.toMatch(/support\/browser/)
  expect(ESSENTIAL.filter((file) => ON_SERVER_ALONE.includes(file))).toEqual([])
})

test('the files that run a sample of their cases are those whose cases all run in the rest', () => {
  const beside = globSync('{apps,packages}/**/*.test.{ts,tsx}', { cwd: ROOT, exclude: ['**/node_modules'] })
  const sampling = [...files, ...beside].filter((file) => /\bsampled\(/.test(textOf(file)))
  expect(sampling.sort()).toEqual([...EXHAUSTIVE].sort())
})

test('a heavy file runs once, in the rest, and every path that it depends on is there', () => {
  const elsewhere = new Set([...ESSENTIAL, ...EXHAUSTIVE, ...ON_EMBEDDED_TOO])
  expect(Object.keys(HEAVY).filter((file) => elsewhere.has(file) || !files.includes(file))).toEqual([])
  expect(Object.keys(digestsOfHeavyFiles())).toEqual(Object.keys(HEAVY))
})

test('a file that starts a process or a browser says in one line why it needs one, and no other file does', () => {
  const beside = globSync('{apps,packages}/**/*.test.{ts,tsx}', { cwd: ROOT, exclude: ['**/node_modules'] })
  const all = [...files, ...beside]
  expect(all.filter((file) => /^\/\/ A (?:process|browser), because /m.test(textOf(file)))).toEqual(
    all.filter(canStartProcess),
  )
})

test('a title has at least four words, of which three are there before any value is known', () => {
  const tooShort = files.flatMap((file) =>
    titlesIn(file, textOf(file)).filter((title) => {
      const words = title.split(/\s+/)
      // Placeholders of `each`, expressions and numbers say nothing by themselves.
      const ownWords = words.filter((word) => /^[^%$]*\p{L}/u.test(word))
      return words.length < 4 || ownWords.length < 3
    }),
  )
  expect(tooShort).toEqual([])
})

test('the page on tests has a row for every folder of test/, with the commands that run it', () => {
  const runsIn = (folder: string) => {
    const inFolder = files.filter((file) => file.startsWith(`${folder}/`))
    const some = inFolder.some((file) => ESSENTIAL.includes(file))
    const others = inFolder.some((file) => !ESSENTIAL.includes(file))
    return [...(some ? ['`test`'] : []), ...(others ? ['`test:rest`'] : [])].join(', ')
  }
  const folders = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  const rows = [
    ...textOf('docs/contributing/tests.md').matchAll(/^\| `(test\/\w+)` +\|[^|]+\| ([^|]+?) +\|/gm),
  ]
  expect(Object.fromEntries(rows.map(([, folder, command]) => [folder, command]))).toEqual(
    Object.fromEntries([...folders].map((folder) => [folder, runsIn(folder)])),
  )
})
