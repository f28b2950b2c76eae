import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'

// A process, because the command of the README is a launcher with a gateway below it, and signals reach both.

const ROOT = join(import.meta.dirname, '../..')

let home: string
let child: ChildProcess | undefined
afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(home, { recursive: true, force: true })
})

/** Runs a command in the repository and returns its output as it grows. */
async function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  home = await mkdtemp(join(tmpdir(), 'trunkline-start-'))
  const started = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: join(home, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = started
  let output = ''
  const listen = (chunk: Buffer) => {
    output += chunk.toString()
  }
  started.stdout.on('data', listen)
  started.stderr.on('data', listen)
  return { child: started, output: () => output }
}

test('SIGTERM to what the README starts ends the gateway in order', { timeout: 180_000 }, async () => {
  const { child, output } = await run('npx', ['-y', 'pnpm@12', 'start'])
  await until('the gateway listens', () => /"msg":"listening"/.test(output()), 120_000)
  const pid = Number(/"pid":(\d+)/.exec(output())?.[1])
  child.kill('SIGTERM')
  await until('the gateway has stopped', () => /"msg":"stopped"/.test(output()))
  await until('its process has ended', () => !isRunning(pid))
})

test.each(['node-20', 'node-22'])('%s is told in one sentence that it is too old', async (name) => {
  const node = join(import.meta.dirname, `../clients/node_modules/${name}/bin/node`)
  const { child, output } = await run(node, [join(ROOT, 'apps/gateway/bin/trunkline.js'), 'start'])
  expect((await once(child, 'close'))[0]).toBe(1)
  expect(output()).toMatch(/^Trunkline needs Node 24\.16 or later, and this is Node 2[02]\.\d+\.\d+\.\n$/)
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
