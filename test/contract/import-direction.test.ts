import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

// A process, because the rules are checked by the program that lints with them, on a folder of its own.

const ROOT = join(import.meta.dirname, '../..')
const FIXTURE = join(ROOT, 'test/fixtures/import-direction')
const RULES = join(ROOT, '.dependency-cruiser.cjs')

/** Rules about circular imports report one import or folder of each circle; the fixture marks that one. */
const FOLDER_CIRCLES = 'no-circular-folders'

interface Violation {
  readonly rule: { readonly name: string }
  readonly from: string
  readonly to: string
}

/**
 * In the fixture, files named `allowed` contain permitted imports. In all other files, the comments after an import name
 * the rules that must report it.
 */
describe('import direction', async () => {
  const violations = await violationsIn(FIXTURE)
  const marks = await marksIn(FIXTURE)

  test('the fixture breaks every rule at least once', () => {
    const { forbidden } = createRequire(import.meta.url)(RULES)
    const names = (forbidden as { name: string }[]).map(({ name }) => name)
    expect(new Set(marks.map(({ rule }) => rule))).toEqual(new Set(names))
  })

  test('exactly the marked imports are reported', () => {
    const reported = violations
      .filter(({ rule }) => rule.name !== FOLDER_CIRCLES)
      // The packages that the fixture imports are not installed in it.
      .filter(({ rule, to }) => rule.name !== 'imports-resolve' || to.startsWith('.'))
      .map(({ rule, from }) => `${from}: ${rule.name}`)
    const marked = marks
      .filter(({ rule }) => rule !== FOLDER_CIRCLES)
      .map(({ file, rule }) => `${file}: ${rule}`)
    expect(reported.sort()).toEqual(marked.sort())
  })

  test('folders that import each other are reported', () => {
    const folders = violations.filter(({ rule }) => rule.name === FOLDER_CIRCLES).map(({ from }) => from)
    expect(folders).toContain('apps/gateway/src/core/circle-a')
    // A folder and its subfolder may import each other, as the adapter interface and its implementations do.
    expect(folders).not.toContain('apps/gateway/src/core/nested')
  })
})

async function violationsIn(tree: string): Promise<readonly Violation[]> {
  const output = await new Promise<string>((resolve) => {
    const command = join(ROOT, 'node_modules/.bin/depcruise')
    const options = ['apps', 'packages', '--config', RULES, '--output-type', 'json']
    // The exit code is the number of findings.
    execFile(command, options, { cwd: tree, maxBuffer: 1 << 26 }, (_error, stdout) => resolve(stdout))
  })
  return JSON.parse(output).summary.violations
}

async function marksIn(tree: string): Promise<readonly { file: string; rule: string }[]> {
  const files = (await readdir(tree, { recursive: true })).filter((file) => /\.tsx?$/.test(file))
  const marks = files.map(async (file) => {
    const text = await readFile(join(tree, file), 'utf8')
    return [...text.matchAll(/ \/\/ ([a-z-]+)(?= \/\/|$)/gm)].map(([, rule = '']) => ({ file, rule }))
  })
  return (await Promise.all(marks)).flat()
}
