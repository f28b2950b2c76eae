import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SHIPPED_FILES } from '../../../apps/gateway/src/core/base/shipped-files.ts'
import { bundleGateway } from './bundle-gateway.ts'
import { bundledPackages, outsidePackages } from './bundled-packages.ts'
import { softwareBill } from './software-bill.ts'
import { thirdPartyNotices } from './third-party-notices.ts'

/*
 * Builds the gateway, its command line and its console into `packages/trunkline/dist`, unless nothing that they are made of has
 * changed since the last time. The package, the image and the gateways that the tests start are this one build.
 *
 * With `--pack` it also writes `packages/trunkline/trunkline.tgz`, the file that npm publishes and installs.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const home = join(root, 'packages/trunkline')
const gateway = join(root, 'apps/gateway')
const builtConsole = join(root, 'apps/console/dist/current')
const dist = join(home, 'dist')
const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))

/** What a build depends on beside the console, which has a stamp of its own. The lockfile stands for all packages. */
const SOURCES = [
  'apps/gateway/{bin,src}/**/*.{ts,js,json,css,ico}',
  'apps/gateway/package.json',
  'packages/sandbox/src/**/*.ts',
  'packages/trunkline/{LICENSE,package.json,scripts/*.ts}',
  'prisma/**/*',
  'pnpm-lock.yaml',
]
const NO_SOURCE = /\.test(?:-support)?\.ts$/

const { values } = parseArgs({ options: { pack: { type: 'boolean' } } })
execFileSync(process.execPath, [join(root, 'apps/console/scripts/build.ts')], { stdio: 'inherit' })
const commit = commitOfSources()
const wanted = hashOfSources()
if (!isCurrent()) {
  const startedAt = performance.now()
  await build()
  console.log(`Built the package in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`)
}
if (values.pack === true) pack()

/** Builds beside the last build and replaces it at the end. Two processes may build at once; either build will do. */
async function build(): Promise<void> {
  const building = newFolder()
  const replaced = newFolder()
  try {
    const modules = await bundleGateway({
      entries: entries(),
      dir: building,
      outside: Object.keys(manifest.dependencies),
      commit,
    })
    copyShippedFiles(building)
    chmodSync(join(building, 'trunkline.js'), 0o755)
    writeNotices(building, [...modules, ...modulesOfConsole()])
    writeFileSync(join(building, 'stamp'), wanted)
    if (isCurrent()) return
    if (existsSync(dist)) renameSync(dist, join(replaced, 'dist'))
    renameSync(building, dist)
  } catch (error) {
    // Another process may have renamed its build between these steps.
    if (!isCurrent()) throw error
  } finally {
    for (const folder of [building, replaced]) rmSync(folder, { recursive: true, force: true })
  }
}

/** A folder on the same disk, from which `dist` can be renamed, and which no command packs or lints. */
function newFolder(): string {
  const cache = join(home, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  return mkdtempSync(join(cache, 'build-'))
}

/** The modules that a process or a thread is started with, by the names of their files without `.js`. */
function entries(): Record<string, string> {
  const own = shippedFiles().filter(({ from }) => from.endsWith('.ts'))
  return {
    trunkline: join(gateway, 'bin/trunkline.js'),
    ...Object.fromEntries(own.map(({ from, to }) => [to.replace(/\.js$/, ''), from])),
  }
}

function copyShippedFiles(building: string): void {
  for (const { from, to } of shippedFiles()) {
    if (!from.endsWith('.ts')) cpSync(from, join(building, to), { recursive: true, filter: isShipped })
  }
}

/** The records of the console's build are of no use to a gateway. */
function isShipped(path: string): boolean {
  return !['stamp', 'modules.json'].some((name) => path === join(builtConsole, name))
}

function shippedFiles(): { from: string; to: string }[] {
  return Object.values(SHIPPED_FILES).map(({ source, built }) => ({
    from: join(gateway, 'src/core/base', source),
    to: built,
  }))
}

function modulesOfConsole(): string[] {
  const ids: string[] = JSON.parse(readFileSync(join(builtConsole, 'modules.json'), 'utf8'))
  return ids.map((id) => join(root, id))
}

function writeNotices(building: string, modules: readonly string[]): void {
  const bundled = bundledPackages(modules)
  const licence = readFileSync(join(home, 'LICENSE'), 'utf8')
  writeFileSync(join(building, 'THIRD-PARTY.txt'), thirdPartyNotices(bundled, licence))
  const bill = softwareBill(manifest, bundled, outsidePackages(home))
  writeFileSync(join(building, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
}

/** As `npm publish` packs it. The file is complete when it appears, because tests of several things may want it at once. */
function pack(): void {
  const folder = newFolder()
  try {
    const options = ['--ignore-scripts', '--silent', '--pack-destination', folder]
    execFileSync('npm', ['pack', ...options], { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] })
    const [name = ''] = globSync('*.tgz', { cwd: folder })
    renameSync(join(folder, name), join(home, 'trunkline.tgz'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log('Packed packages/trunkline/trunkline.tgz.')
}

/** Empty outside of a checkout, such as in an archive of the sources, unless the variable names it. */
function commitOfSources(): string {
  if (process.env.TRUNKLINE_COMMIT) return process.env.TRUNKLINE_COMMIT
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return ''
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256')
    .update(readFileSync(join(builtConsole, 'stamp')))
    .update(commit)
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !NO_SOURCE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.sort())
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

function isCurrent(): boolean {
  const stamp = join(dist, 'stamp')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
}
