import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isNodeNewEnough } from '../apps/gateway/bin/node-version.js'

/*
 * Installs what is missing. It is plain JavaScript without dependencies, because it runs before anything is installed, on
 * the Node that the machine has.
 *
 * Three sets exist, of which each contains the one before. `running` is what a gateway with its console needs, and Node where
 * the machine has none that is new enough. `testing` adds what `test`, the linters and most generators need. `everything` adds
 * the clients and runtimes of others with which the rest of the tests run, the examples, and the generator of Prisma's client:
 * three times as much. One lockfile describes all of them, but for the servers of others that tests start: each is a package outside of
 * the workspace, with a lockfile of its own. A set that is installed is recorded with a hash of what it was installed from, so that a
 * later start asks neither pnpm nor the network.
 *
 * Run as a program, it installs the set that its argument names.
 */

const root = fileURLToPath(new URL('../', import.meta.url))
const records = fileURLToPath(new URL('../node_modules/.installed/', import.meta.url))

/** From the smallest to the largest. */
const SETS = /** @type {const} */ (['running', 'testing', 'everything'])

/** The projects that only `everything` contains. */
const LARGE_PROJECTS = ['@trunkline/client-tests', '@trunkline/examples', '@trunkline/prisma-tools']

/**
 * The folders of servers that the tests of a set start.
 *
 * @type {Readonly<Record<PackageSet, readonly string[]>>}
 */
const SERVERS = {
  running: [],
  testing: ['test/agents/a2a'],
  everything: ['test/agents/a2a', 'test/agents/langgraph'],
}

/** Nothing of theirs is built, since what would be built is not used; pnpm fails where that is neither allowed nor forbidden. */
const STANDALONE = ['install', '--frozen-lockfile', '--ignore-workspace', '--config.strictDepBuilds=false']

/** @typedef {typeof SETS[number]} PackageSet */

/** @param {PackageSet} wanted */
export function install(wanted) {
  const enough = SETS.slice(SETS.indexOf(wanted))
  if (enough.some(isInstalled)) return
  // What was installed once stays: a start after a change of the lockfile must not remove the tools of a contributor.
  const set = enough.findLast(wasInstalled) ?? wanted
  // If this is interrupted, the next run must neither take the half for the whole nor forget which set it was.
  rmSync(records, { recursive: true, force: true })
  record(set, '')
  runPnpm(['install', '--frozen-lockfile', ...optionsOf(set)])
  for (const folder of SERVERS[set]) runPnpm([...STANDALONE, '--dir', folder])
  // The package of Node links its program from a copy that has 67 MB of headers beside it, for compilers.
  rmSync(`${root}tools/node/node_modules/node/node_modules`, { recursive: true, force: true })
  record(set, source(set))
}

/**
 * @param {PackageSet} set
 * @param {string} madeFrom
 */
function record(set, madeFrom) {
  mkdirSync(records, { recursive: true })
  writeFileSync(records + set, madeFrom)
}

/**
 * `--filter` chooses the projects, with those that they import, and `--prod` leaves out what they need for tests alone.
 *
 * @param {PackageSet} set
 */
function optionsOf(set) {
  if (set === 'everything') return []
  if (set === 'testing') return LARGE_PROJECTS.flatMap((project) => ['--filter', `!${project}`])
  const projects = ['@trunkline/gateway...', '@trunkline/console...']
  if (!isNodeNewEnough()) projects.push('@trunkline/node')
  return ['--prod', ...projects.flatMap((project) => ['--filter', project])]
}

/** @param {PackageSet} set */
function isInstalled(set) {
  return read(records + set) === source(set)
}

/**
 * Whether the set was installed, if for another lockfile. Who installs by hand gets everything, which pnpm's own copy of the
 * lockfile shows.
 *
 * @param {PackageSet} set
 */
function wasInstalled(set) {
  if (read(records + set) !== undefined) return true
  return set === 'everything' && read(`${root}node_modules/.pnpm/lock.yaml`) === read(`${root}pnpm-lock.yaml`)
}

/**
 * What an installation of the set is made from.
 *
 * @param {PackageSet} set
 */
function source(set) {
  const hash = createHash('sha256')
  const lockfiles = ['', ...SERVERS[set].map((folder) => `${folder}/`)].map(
    (folder) => `${folder}pnpm-lock.yaml`,
  )
  for (const file of [...lockfiles, 'pnpm-workspace.yaml']) hash.update(readFileSync(root + file))
  hash.update(`${process.platform} ${process.arch}`)
  hash.update(optionsOf(set).join(' '))
  return hash.digest('hex')
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * Runs the pnpm that runs this script, which may be a program or a module; without one, the version that the README names. Ends this
 * process if it fails.
 *
 * @param {string[]} args
 */
function runPnpm(args) {
  const running = process.env.npm_execpath ?? ''
  const [command, ...before] = !/(?:^|[\\/])p(?:n|npm)(?:\.[a-z]+)?$/.test(running)
    ? ['npx', '-y', 'pnpm@12']
    : /\.[cm]?js$/.test(running)
      ? [process.execPath, running]
      : [running]
  const { status, error } = spawnSync(command, [...before, ...args], {
    cwd: root,
    stdio: 'inherit',
    shell: command === 'npx' && process.platform === 'win32',
  })
  if (error !== undefined) console.error(`${command} could not be run: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = SETS.find((set) => set === process.argv[2])
  if (wanted === undefined) {
    console.error(`usage: node scripts/install.mjs ${SETS.join(' | ')}`)
    process.exit(2)
  }
  install(wanted)
}
