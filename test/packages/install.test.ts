import { execFile } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// A process, because an installation is what the package manager writes into an empty folder.

const ROOT = join(import.meta.dirname, '../..')
/** What `start` may put on the disk, without the few megabytes of the sources and of the built console. */
const BYTES_MAX = 540e6
/** What the tools of `test` may add. The build and the caches of its first run need the rest of 500 MB. */
const TOOLS_BYTES_MAX = 360e6
const NODE_20 = join(import.meta.dirname, '../clients/node_modules/node-20/bin/node')

/** The manifests of the repository and its installer, which is all that an installation reads. */
function copyManifests(): string {
  const copy = mkdtempSync(join(tmpdir(), 'trunkline-install-'))
  const manifests = globSync('{package.json,pnpm-*.yaml,{apps,packages,tools}/*/package.json}', { cwd: ROOT })
  const others = globSync('{test,test/clients,bench,examples}/package.json', { cwd: ROOT })
  const servers = globSync('test/agents/*/{package.json,pnpm-lock.yaml}', { cwd: ROOT })
  for (const file of [...manifests, ...others, ...servers, 'scripts/install.mjs', 'apps/gateway/bin']) {
    cpSync(join(ROOT, file), join(copy, file), { recursive: true })
  }
  return copy
}

function install(
  copy: string,
  { node = process.execPath, pnpm = process.env.npm_execpath, set = 'running' } = {},
) {
  const program = [join(copy, 'scripts/install.mjs'), set]
  return new Promise<void>((resolve, reject) => {
    execFile(node, program, { cwd: copy, env: { ...process.env, npm_execpath: pnpm } }, (error, stdout) =>
      error === null ? resolve() : reject(new Error(stdout, { cause: error })),
    )
  })
}

describe('what `start` installs', () => {
  let copy: string
  beforeAll(async () => {
    copy = copyManifests()
    await install(copy)
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test('is what the list names, in which there are no tools', async () => {
    const names = new Set(readdirSync(join(copy, 'node_modules/.pnpm')).flatMap(nameOf))
    const list = `${[...names].sort().join('\n')}\n`
    await expect(list).toMatchFileSnapshot('installed-by-start.txt')
    expect(list).not.toMatch(/codex|bun-|deno|relay-compiler|effect|biome|knip|vitest|typescript|^prisma$/m)
  })

  test('is small, together with the Node that an older machine gets', () => {
    expect(bytesIn(join(copy, 'node_modules')) + statSync(process.execPath).size).toBeLessThan(BYTES_MAX)
  })

  test('grows by less than 500 MB for `test`', async () => {
    const before = bytesIn(join(copy, 'node_modules')) + statSync(process.execPath).size
    await install(copy, { set: 'testing' })
    const servers = bytesIn(join(copy, 'test/agents/a2a/node_modules'))
    expect(servers).toBeGreaterThan(1e6)
    expect(bytesIn(join(copy, 'node_modules')) + servers - before).toBeLessThan(TOOLS_BYTES_MAX)
  })
})

describe('installing', () => {
  let copy: string
  let pnpm: string
  const allCalls = () => readFileSync(`${pnpm}.calls`, 'utf8').split('\n').slice(0, -1)
  const calls = () => allCalls().filter((call) => !call.includes('--ignore-workspace'))
  const full = '["install","--frozen-lockfile"]'

  /** pnpm is replaced by a program that notes its arguments and leaves the copy of the lockfile that pnpm leaves. */
  beforeAll(() => {
    copy = copyManifests()
    pnpm = join(copy, 'pnpm.cjs')
    writeFileSync(
      pnpm,
      `const { appendFileSync, cpSync } = require('node:fs')
       appendFileSync(__filename + '.calls', JSON.stringify(process.argv.slice(2)) + '\\n')
       if (process.env.FAIL) process.exit(1)`,
    )
    writeFileSync(`${pnpm}.calls`, '')
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test('happens once, so that a second start needs no network', async () => {
    await install(copy, { pnpm })
    await install(copy, { pnpm })
    expect(calls()).toEqual([expect.stringMatching(/^\["install","--frozen-lockfile","--prod","--filter"/)])
  })

  test('takes Node along where the machine has none that is new enough', async () => {
    await install(copy, { pnpm, node: NODE_20 })
    expect(calls()[1]).toContain('"@trunkline/node"')
    expect(calls()[0]).not.toContain('"@trunkline/node"')
  })

  test('leaves out for `test` what only the rest of the tests needs', async () => {
    await install(copy, { pnpm, set: 'testing' })
    expect(calls().slice(2)).toEqual([expect.stringContaining('"!@trunkline/client-tests"')])
  })

  test('takes along for `test` the servers that its tests start, each by its own lockfile', () => {
    const servers = allCalls().filter((call) => call.includes('--ignore-workspace'))
    expect(servers).toEqual([expect.stringMatching(/"--frozen-lockfile",.*"--dir","test\/agents\/a2a"\]$/)])
  })

  test('adds everything for the rest of the tests, and a start keeps it', async () => {
    await install(copy, { pnpm, set: 'everything' })
    await install(copy, { pnpm })
    expect(calls().slice(3)).toEqual([full])
  })

  test('is repeated after a change of the lockfile, and the tools stay', async () => {
    appendFileSync(join(copy, 'pnpm-lock.yaml'), '\n')
    await install(copy, { pnpm })
    await install(copy, { pnpm, set: 'everything' })
    expect(calls().slice(4)).toEqual([full])
  })

  test('is repeated after a failure, with the tools if they were there', async () => {
    appendFileSync(join(copy, 'pnpm-lock.yaml'), '\n')
    writeFileSync(pnpm, `process.exit(1)\n${readFileSync(pnpm, 'utf8')}`)
    await expect(install(copy, { pnpm, set: 'everything' })).rejects.toThrow()
    writeFileSync(pnpm, readFileSync(pnpm, 'utf8').replace(/^.*\n/, ''))
    // A start comes first, and must not take the tools away.
    await install(copy, { pnpm })
    await install(copy, { pnpm, set: 'everything' })
    expect(calls().slice(5)).toEqual([full])
  })

  test('by hand is noticed: a start removes nothing of it', async () => {
    rmSync(join(copy, 'node_modules'), { recursive: true })
    mkdirSync(join(copy, 'node_modules/.pnpm'), { recursive: true })
    cpSync(join(copy, 'pnpm-lock.yaml'), join(copy, 'node_modules/.pnpm/lock.yaml'))
    await install(copy, { pnpm })
    expect(calls().slice(6)).toEqual([full])
  })
})

/** The name of a package in pnpm's store, without the version; platforms that differ between machines are left out. */
function nameOf(folder: string): string[] {
  const name = /^(@?[^@]+)@/.exec(folder)?.[1]?.replace('+', '/')
  return name === undefined ? [] : [name.replace(/-(?:linux|darwin|win32)-.*/, '-*')]
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const sizes = new Map(
    files.map((file) => {
      const { ino, blocks } = lstatSync(join(file.parentPath, file.name))
      return [ino, blocks * 512] as const
    }),
  )
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}
