import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommandServer, callRunningGateway, serveCommands } from './command-socket.ts'

// A process, because the socket that a killed owner leaves behind has no owner, and a test cannot kill itself.

let directory: string
let server: CommandServer | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'trunkline-socket-'))
})

afterEach(async () => {
  await server?.close(0)
  server = undefined
  await rm(directory, { recursive: true })
})

const LONG_MS = 60_000

const echo = async (command: string, args: unknown) => ({ command, args })

describe.each([
  ['a short path', ''],
  ['a path longer than a socket address', `${'deep/'.repeat(30)}data`],
])('%s', (_name, below) => {
  test('a command is run by the gateway and returns its result', async () => {
    const dataDir = join(directory, below)
    await mkdir(dataDir, { recursive: true })
    server = await serveCommands(dataDir, echo)
    expect(await callRunningGateway(dataDir, 'users create', { name: 'Ü' }, 'root@host')).toEqual({
      running: true,
      result: { command: 'users create', args: { name: 'Ü' } },
    })
    await server.close(LONG_MS)
    server = undefined
    expect(await callRunningGateway(dataDir, 'x', {}, 'root@host')).toEqual({ running: false })
  })

  test('the socket of a killed gateway counts as no running gateway, and the next gateway replaces it', async () => {
    const dataDir = join(directory, below)
    await mkdir(dataDir, { recursive: true })
    await leaveStaleSocket(dataDir)
    expect(await callRunningGateway(dataDir, 'x', {}, 'root@host')).toEqual({ running: false })
    server = await serveCommands(dataDir, echo)
    expect(await callRunningGateway(dataDir, 'x', {}, 'root@host')).toMatchObject({ running: true })
  })
})

test('without a directory, or below a file, no gateway is running', async () => {
  expect(await callRunningGateway(join(directory, 'none'), 'x', {}, 'root@host')).toEqual({ running: false })
  await writeFile(join(directory, 'file'), '')
  expect(await callRunningGateway(join(directory, 'file'), 'x', {}, 'root@host')).toEqual({ running: false })
})

test("only the gateway's own user may connect", async () => {
  server = await serveCommands(directory, echo)
  expect((await stat(join(directory, 'gateway.sock'))).mode & 0o777).toBe(0o600)
})

test('if a command fails, the caller throws its message', async () => {
  server = await serveCommands(directory, async () => {
    throw new Error('This username is taken.')
  })
  await expect(callRunningGateway(directory, 'x', {}, 'root@host')).rejects.toThrow('This username is taken.')
})

test('a result that is not JSON fails only its own command', async () => {
  server = await serveCommands(directory, async (command) => (command === 'count' ? 1n : 'well'))
  await expect(callRunningGateway(directory, 'count', {}, 'root@host')).rejects.toThrow('BigInt')
  expect(await callRunningGateway(directory, 'other', {}, 'root@host')).toEqual({
    running: true,
    result: 'well',
  })
})

test('closing waits for a running command', async () => {
  const started = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<string>()
  const running = await serveCommands(directory, () => {
    started.resolve()
    return finish.promise
  })
  const call = callRunningGateway(directory, 'x', {}, 'root@host')
  await started.promise
  const closed = running.close(LONG_MS)
  finish.resolve('done')
  expect(await call).toEqual({ running: true, result: 'done' })
  await closed
})

test('closing does not wait longer than it should', async () => {
  const started = Promise.withResolvers<void>()
  const running = await serveCommands(directory, () => {
    started.resolve()
    return new Promise(() => undefined)
  })
  const call = callRunningGateway(directory, 'x', {}, 'root@host')
  await started.promise
  await Promise.all([running.close(10), expect(call).rejects.toThrow('The running gateway did not answer.')])
})

async function leaveStaleSocket(dataDir: string): Promise<void> {
  const program = `
    const { serveCommands } = await import(${JSON.stringify(new URL('command-socket.ts', import.meta.url).href)})
    await serveCommands(process.argv[1], async () => {})
    console.log('listening')
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await stat(join(dataDir, 'gateway.sock'))).isSocket()).toBe(true)
}
