import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isNodeNewEnough } from '../apps/gateway/bin/node-version.js'
import { install } from './install.mjs'

/*
 * Runs a program of this repository on a Node that is new enough, after installing what is missing:
 *
 *   node scripts/run.mjs [--with testing | --with everything] <program> [arguments]
 *
 * Without `--with` it installs what a running gateway needs and uses the machine's own Node where that is new enough. With it,
 * it installs that set of packages and uses the Node of the lockfile, on which the tests run.
 */

const NPX_CHECK_MS = 250

const [option, set, ...rest] = process.argv.slice(2)
const needsTools = option === '--with'
const command = needsTools ? rest : process.argv.slice(2)

install(needsTools ? set : 'running')
const node = needsTools || !isNodeNewEnough() ? installedNode() : process.execPath
const child = spawn(node, command, { stdio: 'inherit' })
child.on('error', (error) => {
  console.error(`${node} could not be run: ${error.message}`)
  process.exitCode = 1
})

// After a signal the end of npx is no news: passed on as well, it would be a second signal, which ends a gateway at once.
const forward = (signal) => {
  clearInterval(watching)
  child.kill(signal)
}
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
for (const signal of signals) process.on(signal, forward)
const watching = watchNpx(() => child.kill('SIGTERM'))
child.on('exit', (code, signal) => {
  clearInterval(watching)
  for (const name of signals) process.off(name, forward)
  if (signal !== null) process.kill(process.pid, signal)
  process.exitCode = code ?? 1
})

function installedNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  return fileURLToPath(new URL(`../tools/node/node_modules/node/bin/${name}`, import.meta.url))
}

/**
 * `npx` ends at SIGTERM without passing it on to pnpm, so a gateway would stay behind when `npx -y pnpm start` is stopped. The
 * end of `npx` counts as that signal.
 */
function watchNpx(onEnd) {
  const npx = ancestors().find(({ title }) => /^npm exec |\bnpx(?:-cli\.js)?\b/.test(title))
  if (npx === undefined) return undefined
  return setInterval(() => {
    if (isRunning(npx.pid)) return
    clearInterval(watching)
    onEnd()
  }, NPX_CHECK_MS)
}

/** The processes that started this one, nearest first; between this one and npx there are two shells and pnpm. */
function ancestors() {
  const found = []
  if (process.platform === 'win32') return found
  for (let pid = process.ppid; pid > 1 && found.length < 6; ) {
    const { parent, title } = existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid)
    found.push({ pid, title })
    pid = parent
  }
  return found
}

function fromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    // The name of the program stands in brackets before the parent and may contain anything.
    return { parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), title }
  } catch {
    return { parent: 0, title: '' }
  }
}

function fromPs(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' })
  const [, parent = '0', title = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? []
  return { parent: Number(parent), title }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Only a process that exists can refuse the signal.
    return error.code === 'EPERM'
  }
}
