import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DataDirBusyError, DataDirError, lockDataDir } from './data-dir-lock.ts'

// A process, because the lock is between processes, and must be free when its owner was killed.

vi.setConfig({ testTimeout: 30_000 })

let dataDir: string
const children: ChildProcess[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'trunkline-lock-'))
})

afterEach(async () => {
  await Promise.all(children.splice(0).map(kill))
  await rm(dataDir, { recursive: true })
})

test('a second process is rejected with the directory and the owner, and the first keeps its lock', async () => {
  const owner = await starter()
  expect(await owner.start()).toBe('owner')
  for (const attempt of [1, 2]) {
    const error = await lockDataDir(dataDir).catch((reason: unknown) => reason)
    expect(error, `attempt ${attempt}`).toBeInstanceOf(DataDirBusyError)
    expect(error).toMatchObject({ dataDir, pid: owner.child.pid })
    expect((error as Error).message).toContain(dataDir)
    expect((error as Error).message).toContain(String(owner.child.pid))
  }
})

test('the lock of a killed process is free at once', async () => {
  const owner = await starter()
  await owner.start()
  await kill(owner.child)
  const lock = await lockDataDir(dataDir)
  await lock.release()
})

test('of several processes that start after one was killed, exactly one gets the lock', async () => {
  const killed = await starter()
  await killed.start()
  const starters = await Promise.all([starter(), starter(), starter()])
  await kill(killed.child)
  const outcomes = await Promise.all(starters.map(({ start }) => start()))
  expect(outcomes.sort()).toEqual(['DataDirBusyError', 'DataDirBusyError', 'owner'])
})

test('the lock also excludes its own process until it is released', async () => {
  const lock = await lockDataDir(dataDir)
  await expect(lockDataDir(dataDir)).rejects.toMatchObject({ pid: process.pid })
  await lock.release()
  await (await lockDataDir(dataDir)).release()
})

test('a directory that cannot be created is rejected at once, with its name', async () => {
  const file = join(dataDir, 'file')
  await writeFile(file, '')
  for (const path of [file, join(file, 'below'), join(file, 'deep', 'below')]) {
    await expect(lockDataDir(path)).rejects.toThrow(
      `DATA_DIR: ${path} cannot be used: ${file} is a file, not a directory.`,
    )
  }
  // Node's own recursive mkdir never returns here.
  await expect(lockDataDir('/proc/nowhere')).rejects.toBeInstanceOf(DataDirError)
  await (await lockDataDir(join(dataDir, 'made', 'deep'))).release()
})

const program = `
  const { lockDataDir } = await import(${JSON.stringify(new URL('data-dir-lock.ts', import.meta.url).href)})
  console.log('ready')
  process.stdin.once('data', () => lockDataDir(process.argv[1]).then(
    () => console.log('owner'),
    (error) => console.log(error.name),
  ))
`

/** Starts a process that takes the lock when `start` is called, and keeps it. */
async function starter(): Promise<{ child: ChildProcess; start(): Promise<string> }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  return {
    child,
    async start() {
      child.stdin.write('go\n')
      const [line] = (await once(lines, 'line')) as [string]
      return line
    },
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
