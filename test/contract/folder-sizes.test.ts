import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** A folder with more files holds more than one trade, and nothing in it is found by its name. */
const FILES_MAX = 24

/** Files beside the sources of a folder that do not make it harder to read. */
const BESIDE = /\.test\.tsx?$|\.test-support\.|\/(generated|fixtures|transcripts)\//

/** What is installed or built. */
const NOT_OURS = ['**/node_modules', '**/dist', '**/reference', '**/.*']

test(`no folder of the apps and packages has more than ${FILES_MAX} files`, () => {
  const files = globSync('{apps,packages}/**', { cwd: ROOT, exclude: NOT_OURS, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(relative(ROOT, parentPath), name))
  const sources = files.filter((file) => !BESIDE.test(file))
  const folders = Map.groupBy(sources, dirname)
  expect(folders.size).toBeGreaterThan(50)
  const tooLarge = [...folders].filter(([, { length }]) => length > FILES_MAX)
  expect(tooLarge.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([])
})
