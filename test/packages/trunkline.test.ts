import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { packTrunkline } from '../support/built-package.ts'
import { freePort } from '../support/free-port.ts'
import { type Finished, launch, startGateway, trunkline } from '../support/gateway.ts'
import { probeGateway } from '../support/probe-gateway.ts'

// A process, because what npm installs must start, be stopped through npx, and serve as the sources do.
// It takes over a minute, because npm installs the package with all that it depends on.

// An installation, and several starts on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const BIN = join(import.meta.dirname, '../node_modules/.bin')
const NODE_20 = join(import.meta.dirname, '../clients/node_modules/node-20/bin/node')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'packages/trunkline/package.json'), 'utf8'))

/** What `npm install trunkline` may put on the disk, Node not counted. */
const BYTES_MAX = 80e6

const server = process.env.E2E_DATABASE_URL

let home: string
let project: string
let tarball: string
/** Where the installed gateway starts for the first time, and where commands run. */
let empty: string
/** The command, as npm has linked it. */
let main: string
beforeAll(async () => {
  tarball = await packTrunkline()
  home = await mkdtemp(join(tmpdir(), 'trunkline-package-'))
  project = join(home, 'project')
  empty = join(home, 'empty')
  await mkdir(project)
  await mkdir(empty)
  await writeFile(
    join(project, 'package.json'),
    '{ "name": "a-project", "version": "1.0.0", "private": true }',
  )
  const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...options, tarball], { cwd: project })
  main = join(project, 'node_modules/.bin/trunkline')
})
afterAll(async () => {
  if (home !== undefined) await rm(home, { recursive: true, force: true })
})

const command = (args: readonly string[], env?: Record<string, string>): Promise<Finished> =>
  trunkline(args, { main, cwd: empty, ...(env && { env }) })

describe('the probe passes', () => {
  test('on the sources', async () => {
    const gateway = await startGateway({ main: join(ROOT, 'apps/gateway/bin/trunkline.js'), isOnDisk: true })
    await probeGateway(gateway).finally(() => gateway.remove())
  })

  test('on what npm installs, where `trunkline` starts in an empty folder', async () => {
    await probeInstalled(empty, [], { PORT: '0' })
    expect(readdirSync(empty)).toEqual(['.data'])
  })

  test.runIf(server)('with two workers on a server that its own command has migrated', async () => {
    const database = await createScratchDatabase(server ?? '', { template: undefined })
    const env = { DATABASE_URL: database.url }
    const opsPort = String(await freePort())
    try {
      const migrated = await command(['migrate'], { ...env, NODE_ENV: 'production' })
      expect(migrated).toMatchObject({ code: 0, output: expect.stringMatching(/^Applied: /) })
      await probeInstalled(home, ['start'], { ...env, PORT: '0', OPS_PORT: opsPort, WORKERS: '2' })
      expect(await command(['health'], { OPS_PORT: opsPort })).toEqual({
        code: 1,
        output: expect.stringMatching(/^The gateway at \S+ does not answer: .*ECONNREFUSED.*\.\n$/),
      })
    } finally {
      await database.drop()
    }
  })
})

/** Starts the installed gateway for the first time, and probes it with what it prints. */
async function probeInstalled(folder: string, args: string[], env: Record<string, string>): Promise<void> {
  const { child, prints } = launch(args, folder, env, main)
  const ended = once(child, 'exit')
  const failed = ended.then(([code]) => Promise.reject(new Error(`the gateway exited with ${code}`)))
  const printed = async (pattern: RegExp) => (await Promise.race([prints(pattern), failed]))[1] ?? ''
  try {
    const url = await printed(/^Trunkline is ready: +(http:\S+)\/console /m)
    const password = await printed(/^Password: +(\S+) +\(shown only now\)$/m)
    const { port, origin } = new URL(env.OPS_PORT === undefined ? url : `http://127.0.0.1:${env.OPS_PORT}`)
    expect(await command(['health'], { PORT: port })).toMatchObject({ code: 0 })
    const stop = async () => child.kill('SIGTERM') && (await ended)
    await probeGateway({ url, opsUrl: origin, admin: { username: 'admin', password }, stop })
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
  }
}

// They find the database of the start above, because a new one would take as long again.
describe('the command line of what npm installs', () => {
  test.each([
    ['--version', [], `${MANIFEST.version}\n`],
    ['--help', [], expect.stringMatching(/^Usage: trunkline .*\bstart\b.*\bhealth\b.*\bmigrate\b/s)],
    ['config', ['check'], expect.stringMatching(/^The configuration is good/m)],
    ['migrate', [], 'The database is up to date.\n'],
    ['users', ['list'], expect.stringMatching(/^admin +admin +active /m)],
  ])('answers trunkline %s %j', async (name, args, output) => {
    expect(await command([name, ...args])).toEqual({ code: 0, output })
  })

  test('a mistyped command is no argument of start', async () => {
    const output = expect.stringMatching(/^error: unknown command 'strat' .*start/)
    expect(await command(['strat'])).toEqual({ code: 1, output })
  })

  test('SIGTERM to npx stops the gateway that it has started', async () => {
    // npx does not pass the signal on to the gateway.
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const env = { PATH, HOME: home, DATA_DIR: join(empty, '.data'), PORT: '0' }
    const npx = spawn('npx', ['trunkline'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    npx.stdout.on('data', (chunk: Buffer) => {
      output += chunk
    })
    const [, url = ''] = await vi.waitUntil(
      () => /^Trunkline is ready: +(http:\S+?)(?:\/console)? /m.exec(output),
      60_000,
    )
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    npx.kill('SIGTERM')
    await once(npx.stdout, 'close')
    expect(output).toMatch(/"stopped"}\s*$/)
  })

  test.runIf(existsSync(NODE_20))('an older Node gets one line', async () => {
    const failed = await run(NODE_20, [main]).catch((error) => error)
    const line = /^Trunkline needs Node 24\.16 or later, and this is Node 20\.[\d.]+\.\n$/
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(line)])
  })
})

describe('what npm installs', () => {
  const installed = (name: string) => readFileSync(join(project, 'node_modules/trunkline', name), 'utf8')
  const bill = (): { components: Component[] } => JSON.parse(installed('dist/sbom.cdx.json'))

  test('is small', () => {
    const entries = readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const bytes = files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
    expect(bytes).toBeLessThan(BYTES_MAX)
  })

  test('is the build, readme and licence, and nothing of the machine that built it', () => {
    const folder = join(project, 'node_modules/trunkline')
    expect(readdirSync(folder).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ])
    const files = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true })
    const names = files.map(({ name }) => name)
    expect(names.filter((name) => /\.(ts|map)$|\.test|^(stamp|modules\.json)$/.test(name))).toEqual([])
    const scripts = names.filter((name) => name.endsWith('.js') && !name.startsWith('graphiql'))
    for (const { parentPath, name } of files.filter((file) => scripts.includes(file.name)))
      expect(readFileSync(join(parentPath, name), 'utf8').includes(ROOT), name).toBe(false)
  })

  test('is accepted by publint, public, and installable by everyone', async () => {
    const { stdout } = await run(join(BIN, 'publint'), ['--strict', tarball])
    expect(stdout).toMatch(/All good!/)
    const manifest = JSON.parse(installed('package.json'))
    expect(manifest).toMatchObject({ name: 'trunkline', license: 'MIT', publishConfig: { access: 'public' } })
    expect(manifest.private).toBeUndefined()
    expect(JSON.stringify(manifest)).not.toMatch(/"(workspace|link|file|catalog):/)
    const gateway = JSON.parse(readFileSync(join(ROOT, 'apps/gateway/package.json'), 'utf8'))
    expect(manifest.engines).toEqual(gateway.engines)
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect([name, version]).toEqual([name, gateway.dependencies[name]])
  })

  test('lists all of its software: what npm sees, and what is bundled', async () => {
    const { stdout } = await run('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev'], { cwd: project })
    const seen: Component[] = JSON.parse(stdout).components
    const listed = new Set(bill().components.map(({ purl }) => purl))
    const missing = seen.filter(({ name, purl }) => name !== 'trunkline' && !listed.has(purl))
    expect(missing.map(({ purl }) => purl)).toEqual([])
    expect(seen.length).toBeGreaterThan(3)
    // Of the gateway, of its emulators' faces, and of the console.
    for (const name of ['fastify', 'graphql', '@aws-sdk/client-s3', 'react', '@fontsource-variable/inter'])
      expect(bill().components).toContainEqual(expect.objectContaining({ name, version: expect.any(String) }))
  })

  test('has the licence of everything that is bundled', () => {
    const notices = installed('dist/THIRD-PARTY.txt')
    const bundled = bill().components.filter(({ properties }) => properties[0]?.value === 'true')
    expect(bundled.length).toBeGreaterThan(200)
    for (const { name, version, licenses } of bundled) {
      expect(licenses[0]).toBeDefined()
      expect(notices).toContain(`\n${name} ${version} (`)
    }
    for (const text of ['Apache License', 'Permission is hereby granted', 'SIL OPEN FONT LICENSE'])
      expect(notices).toContain(text)
  })
})

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses: readonly object[]
  readonly properties: readonly { readonly value: string }[]
}
