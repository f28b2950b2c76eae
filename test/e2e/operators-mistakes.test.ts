import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { launch, startGateway, trunkline } from '../support/gateway.ts'
import { copyPreparedDataDir } from '../support/gateway-template.ts'

// A process, because what is tested is how a start fails: one line, and an exit code.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-'))
})
afterAll(() => rm(home, { recursive: true }))

/** Lines that report the progress of a start. */
const PROGRESS = /^(opening the embedded database|connecting to|starting the sandbox|applying |waiting )/

async function refusal(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { code, output } = await trunkline(args, {
    cwd: home,
    env: { PORT: '0', LOG_LEVEL: 'silent', ...env },
  })
  const lines = output
    .trimEnd()
    .split('\n')
    .filter((line) => !PROGRESS.test(line))
  expect([code, lines]).toEqual([1, [lines[0]]])
  return lines[0] ?? ''
}

describe.each([['start'], ['users list']])('%s with a DATA_DIR that', (command) => {
  const run = (dataDir: string) => refusal(command.split(' '), { DATA_DIR: dataDir })

  test('is a file, or is below one, fails with one line', async () => {
    const file = join(home, 'file')
    await writeFile(file, '')
    for (const dataDir of [file, join(file, 'below', 'it')]) {
      expect(await run(dataDir)).toMatch(
        command === 'users list'
          ? /^DATA_DIR: there is no database in /
          : `${file} is a file, not a directory.`,
      )
    }
  })

  // Tests may run as root, to whom file modes do not apply; this file system rejects new directories from every user.
  test.each(['/proc/nowhere'])(
    'cannot be created (%s) fails with one line, and does not hang',
    async (dataDir) => {
      expect(await run(dataDir)).toMatch(new RegExp(`^DATA_DIR: .*${dataDir}`))
    },
  )

  test('contains something other than a database fails with one line', async () => {
    const dataDir = join(home, `other-${command.replace(' ', '-')}`)
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'db'), 'no directory')
    expect(await run(dataDir)).toMatch(/^DATA_DIR: the database cannot be used: /)
  })

  test('has a database that is not whole, or a link to one, fails with one line, and makes none over it', async () => {
    const dataDir = join(home, `partly-${command.replace(' ', '-')}`)
    const folder = join(dataDir, 'db')
    await mkdir(join(folder, 'base'), { recursive: true })
    expect(await run(dataDir)).toMatch(/^DATA_DIR: \S+\/db is not empty \(base\), .+ move the folder away/)
    expect(await readdir(folder)).toEqual(['base'])
    await rename(folder, join(dataDir, 'elsewhere'))
    await symlink(join(dataDir, 'elsewhere'), folder)
    expect(await run(dataDir)).toMatch(/^DATA_DIR: \S+\/db is a symbolic link\. .+ mount it there/)
    expect(await trunkline(['config', 'check'], { cwd: home, env: { DATA_DIR: dataDir } })).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^Error: DATA_DIR: \S+\/db is a symbolic link\./m),
    })
  })
})

test('a folder for uploads that cannot be created is reported in one line', async () => {
  const dataDir = join(home, 'blocked')
  await copyPreparedDataDir(dataDir)
  await writeFile(join(dataDir, 'files'), '')
  expect(await refusal(['start'], { DATA_DIR: dataDir })).toBe(
    `Files cannot be stored in ${dataDir}/files: its path leads through a file (EEXIST).`,
  )
})

test('a bucket without a region is reported in one line', async () => {
  const env = { DATA_DIR: join(home, 'no-region'), S3_BUCKET: 'files', HOME: home }
  await copyPreparedDataDir(env.DATA_DIR)
  expect(await refusal(['start'], env)).toMatch(/^S3_REGION: is required, because /)
  expect(await trunkline(['config', 'check'], { cwd: home, env })).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^Error: S3_REGION: is required, because /m),
  })
})

test('a start whose port is taken leaves no lost process, and no administrator whose password nobody was told', async () => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const env = { DATA_DIR: join(home, 'port-taken') }
  expect(await refusal(['start'], { ...env, PORT: String(port) })).toBe(
    `Cannot listen on 127.0.0.1:${port}: port ${port} is in use; set PORT to a free one.`,
  )
  const processes = await trunkline(['processes'], { cwd: home, env })
  expect(processes).toMatchObject({ code: 0, output: 'There is no such process.\n' })
  const users = await trunkline(['users', 'list', '--json'], { cwd: home, env })
  expect(JSON.parse(users.output)).toEqual([])
})

test('SIGTERM ends a start that is blocked', async () => {
  const dataDir = join(home, 'hangs')
  await mkdir(dataDir)
  // Opening a pipe for writing blocks until someone reads from it.
  execFileSync('mkfifo', [join(dataDir, 'gateway.pid')])
  const { child, prints } = launch(['start'], home, { PORT: '0', DATA_DIR: dataDir })
  onTestFinished(() => void child.kill('SIGKILL'))
  await prints(/opening the embedded database/)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([null, 'SIGTERM'])
})

test('a database server that is down or does not answer is reported in one line', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as { port: number }
  const commands = [['users', 'list'], ['migrate'], ['db', 'import', join(home, 'none')]]
  for (const args of commands) {
    const down = await refusal(args, { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/none' })
    expect(down).toBe('The database does not answer: connect ECONNREFUSED 127.0.0.1:1.')
  }
  expect(
    await refusal(['users', 'list'], { DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${port}/none` }),
  ).toMatch(/^The database does not answer: /)
})

test('a SECRET_KEY other than the one that the database was started with is reported in one line', async () => {
  const env: Record<string, string> = { SECRET_KEY: 'a'.repeat(32) }
  const gateway = await startGateway({ env })
  onTestFinished(() => gateway.remove())
  expect(await gateway.stop()).toBe(0)
  for (const [secret, problem] of [
    ['b'.repeat(32), 'is not the one'],
    ['', 'is not set'],
  ] as const) {
    env.SECRET_KEY = secret
    const { code, output } = await gateway.trunkline('start')
    const lines = output
      .split('\n')
      .filter((line) => line !== '' && !PROGRESS.test(line) && !line.startsWith('{'))
    expect([code, lines]).toEqual([1, [expect.stringContaining(`SECRET_KEY ${problem}`)]])
  }
})

test('migrate fails with one line while a running gateway owns the database', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.remove())
  const { code, output } = await gateway.trunkline('migrate')
  expect([code, output]).toEqual([
    1,
    `The data directory ${gateway.dataDir} is in use by the process ${gateway.pid}.\n`,
  ])
})
