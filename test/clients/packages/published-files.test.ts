import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PackedPackage, packPackage } from '../../support/packed-package.ts'

// A process, because the files are those that the package manager packs, and the tools that judge them are programs.

const run = promisify(execFile)
const BIN = join(import.meta.dirname, '../node_modules/.bin')

describe.each(['sdk', 'sandbox'] as const)('@trunkline/%s', (name) => {
  let packed: PackedPackage
  let manifest: Record<string, unknown>
  beforeAll(async () => {
    packed = await packPackage(name)
    manifest = JSON.parse(await readFile(join(packed.installed, 'package.json'), 'utf8'))
  })
  afterAll(async () => {
    await packed?.remove()
  })

  test('has no mistake that publint finds', async () => {
    const { stdout } = await run(join(BIN, 'publint'), ['--strict', packed.tarball])
    expect(stdout).toMatch(/All good!/)
  })

  test('every entry has types that match its code, for imports and for require', async () => {
    // The schema is no code.
    const options = ['--no-color', '--no-emoji', '--exclude-entrypoints', './schema.graphql']
    const { stdout } = await run(join(BIN, 'attw'), [packed.tarball, ...options])
    expect(stdout).toMatch(/No problems found/)
  })

  test('depends on nothing, may be shaken, and is published in public and with its provenance', () => {
    expect(manifest).toMatchObject({
      name: `@trunkline/${name}`,
      license: 'MIT',
      sideEffects: false,
      publishConfig: { access: 'public', provenance: true },
    })
    expect(manifest.private).toBeUndefined()
    expect(manifest.dependencies ?? {}).toEqual({})
    // A range of the workspace, or a path, could not be installed by anybody else.
    expect(JSON.stringify(manifest)).not.toMatch(/"(workspace|link|file|catalog):/)
  })

  test.runIf(name === 'sdk')('has the GraphQL schema where code generators look for it', async () => {
    const schema = await readFile('schema.graphql', 'utf8')
    expect(await readFile(join(packed.installed, 'schema.graphql'), 'utf8')).toBe(schema)
    const { resolve } = createRequire(join(packed.project, 'program.js'))
    expect(await readFile(resolve('@trunkline/sdk/schema.graphql'), 'utf8')).toBe(schema)
  })

  test('a rehearsal of publishing sends the build, readme and licence, and neither tests nor the sources of the SDK', async () => {
    const { stdout } = await run('npm', ['publish', '--dry-run', '--ignore-scripts', '--offline', '--json'], {
      cwd: packed.stage,
    })
    // npm 11 and later name the package in front of its files.
    const report = JSON.parse(stdout)
    const { files } = (report[`@trunkline/${name}`] ?? report) as { files: { path: string }[] }
    const paths = files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'dist/index.js']),
    )
    const folders = name === 'sdk' ? 'dist|chat|graphql' : 'dist|src'
    const expected = new RegExp(
      `^((${folders})/.*\\.(c?js|d\\.c?ts|ts|json)|CHANGELOG\\.md|LICENSE|README\\.md|package\\.json|schema\\.graphql|requires-typescript.*\\.d\\.ts)$`,
    )
    expect(paths.filter((path) => !expected.test(path))).toEqual([])
    expect(paths.filter((path) => /\.test(-support)?\.|\.map$/.test(path))).toEqual([])
    for (const path of paths.filter((each) => each.startsWith('dist/'))) {
      const code = await readFile(join(packed.stage, path), 'utf8')
      expect(code, path).not.toMatch(/^\/\/# sourceMappingURL=/m)
    }
  })
})
