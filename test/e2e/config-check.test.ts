import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { trunkline } from '../support/gateway.ts'
import { query } from '../support/query.ts'

// A process, because the command must name servers that do not answer, and end in time although they do not.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-'))
})
afterAll(() => rm(home, { recursive: true }))

interface Result {
  readonly ok: boolean
  readonly findings: readonly { level: string; subject: string; message: string }[]
}

const DIFY = { dify: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'hunter2' } }

/** Few enough for every limit of open files. */
const BOUNDS = { connectionsMax: 10, chat: { inFlightMax: 10 } }

async function check(env: Record<string, string>, agents: object = DIFY, ...options: string[]) {
  return checkFile({ ...BOUNDS, agents }, env, ...options)
}

async function checkFile(file: object, env: Record<string, string>, ...options: string[]) {
  await writeFile(join(home, 'gateway.config.yaml'), JSON.stringify(file))
  const args = ['config', 'check', '--json', ...options]
  const { code, output } = await trunkline(args, { cwd: home, env: { DATA_DIR: join(home, 'data'), ...env } })
  expect(output).not.toContain('hunter2')
  const { ok, findings } = JSON.parse(output) as Result
  expect(code).toBe(ok ? 0 : 1)
  const of = (subject: string) =>
    findings.filter((each) => each.subject === subject).map(({ level, message }) => `${level} ${message}`)
  return { ok, of }
}

/** Accepts connections and never answers. */
async function startSilentServer(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A platform that gives every request the same answer. */
async function startPlatform(status: number, body: object, headers: object = {}): Promise<string> {
  const server = createHttpServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const withUser = (address: string, scheme: string) => `${scheme}://me:hunter2@${address}`

test('servers that refuse connections, or accept them and never answer, are named', async () => {
  const silent = await startSilentServer()
  const [refused, hanging] = await Promise.all([
    check({ DATABASE_URL: withUser('127.0.0.1:1', 'postgres'), REDIS_URL: withUser('127.0.0.1:1', 'redis') }),
    check({ DATABASE_URL: withUser(silent, 'postgres'), REDIS_URL: withUser(silent, 'redis') }),
  ])
  expect([refused.ok, ...refused.of('database')]).toEqual([
    false,
    'error DATABASE_URL: PostgreSQL at 127.0.0.1:1: the connection is refused.',
  ])
  expect(refused.of('redis')).toEqual([
    expect.stringMatching(/^warning REDIS_URL: Redis at 127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED/),
  ])
  expect(hanging.of('database')).toEqual([`error DATABASE_URL: PostgreSQL at ${silent}: it does not answer.`])
  expect(hanging.of('redis')).toEqual([
    expect.stringContaining(`warning REDIS_URL: Redis at ${silent} cannot be used: no answer within 5 s.`),
  ])
})

test('a data directory that cannot be made is an error, and one that can is not made', async () => {
  const { ok, of } = await check({ DATA_DIR: '/proc/nowhere' })
  expect([ok, of('data_dir')]).toEqual([
    false,
    [
      'error DATA_DIR: /proc/nowhere cannot be written (ENOENT); it is for the embedded database and uploaded files.',
    ],
  ])
  const good = await check({ DATA_DIR: join(home, 'a', 'b') })
  expect([good.ok, ...good.of('data_dir')]).toEqual([true, expect.stringMatching(/^ok .* will be made in /)])
  expect(await readdir(home)).toEqual(['gateway.config.yaml'])
})

test('a variable that looks misspelt is a warning', async () => {
  const { ok, of } = await check({ LOGLEVEL: 'warn', TRUNKLINE_PORT: 'tcp://10.0.0.1:80' })
  expect([ok, of('environment')]).toEqual([true, ['warning LOGLEVEL: is not read; did you mean LOG_LEVEL?']])
})

test('what others would meet in production is a warning each, and more connections than files are', async () => {
  const env = { NODE_ENV: 'production', HOST: '0.0.0.0' }
  const { ok, of } = await checkFile({ agents: DIFY, connectionsMax: Number.MAX_SAFE_INTEGER }, env)
  expect([ok, of('environment')]).toEqual([
    true,
    [
      expect.stringMatching(/^warning SECRET_KEY: is not set, so /),
      expect.stringMatching(/^warning PUBLIC_URL: is http:\/\/localhost:8080, where /),
      expect.stringMatching(/^warning OPS_PORT: is not set, so \/metrics is public at port 8080$/),
      ...(process.platform === 'linux'
        ? [expect.stringMatching(/^warning connectionsMax: .* may have \d+ \(ulimit -n\)$/)]
        : []),
    ],
  ])
})

test('an address that this machine does not have is an error', async () => {
  // Of a network that is set aside for documentation.
  const { ok, of } = await check({ HOST: '192.0.2.1' })
  expect([ok, of('environment')]).toEqual([
    false,
    ['error HOST: cannot listen on 192.0.2.1: it is no address of this machine.'],
  ])
})

test('with --agents each key of each platform is tried, with a line that names no key', async () => {
  const good = await startPlatform(200, { data: [] })
  const refusing = await startPlatform(401, { message: 'no such key: hunter2' })
  const openai = (address: string) => ({
    platform: 'openai',
    baseUrl: `${address}/v1`,
    model: 'm',
    apiKey: 'hunter2',
  })
  const moved = await startPlatform(308, {}, { location: 'https://new.example/v1?key=hunter2' })
  const silent = await startSilentServer()
  const agents = {
    good: { ...openai(good), apps: { first: {}, second: { apiKey: 'hunter2b' } } },
    wrong: openai(refusing),
    silent: openai(`http://${silent}`),
    moved: openai(moved),
  }
  const { ok, of } = await check({}, agents, '--agents')
  expect(ok).toBe(false)
  const { host } = new URL(good)
  for (const path of ['agents.good', 'agents.good.apps.second']) {
    expect(of(path)).toEqual([`ok ${path}: OpenAI at ${host} answers and accepts the key.`])
  }
  expect(of('agents.wrong')).toEqual([
    expect.stringMatching(/^error .* refuses the key \(agent_credentials, status 401\)\.$/),
  ])
  expect(of('agents.silent')).toEqual([
    `error agents.silent: OpenAI at ${silent} does not answer within 5 s.`,
  ])
  expect(of('agents.moved')).toEqual([
    expect.stringMatching(/^error .* sends requests elsewhere \(redirect 308 to https:\/\/new\.example\)\.$/),
  ])
  expect((await check({}, agents)).of('agents.wrong')).toEqual([])
})

test('with --agents each deployment is tried and named, with its keys of apps', async () => {
  const [good, refusing] = [await startPlatform(200, { data: [] }), await startPlatform(401, {})]
  const agents = {
    qwen: {
      platform: 'openai',
      model: 'm',
      apiKey: 'hunter2',
      apps: { first: {} },
      deployments: [
        { id: 'main', baseUrl: good, apps: { first: { apiKey: 'hunter2b' } } },
        { id: 'spare', baseUrl: refusing },
      ],
    },
  }
  const { of } = await check({}, agents, '--agents')
  const { host } = new URL(good)
  for (const path of ['agents.qwen/main', 'agents.qwen/main.apps.first']) {
    expect(of(path)).toEqual([`ok ${path}: OpenAI at ${host} answers and accepts the key.`])
  }
  expect(of('agents.qwen/spare')).toEqual([
    `error agents.qwen/spare: OpenAI at ${new URL(refusing).host} refuses the key (agent_credentials, status 401).`,
  ])
})

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('on a database server', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  beforeAll(async () => {
    database = await createScratchDatabase(server)
  })
  afterAll(() => database.drop())

  test('version, migrations and rights are checked', async () => {
    const { ok, of } = await check({ DATABASE_URL: database.url })
    expect([ok, of('database')]).toEqual([
      true,
      [
        expect.stringMatching(/^ok DATABASE_URL: PostgreSQL \d+.* at \S+, database \S+, user \S+\.$/),
        'ok DATABASE_URL: all migrations are applied, and the user has the rights that the gateway needs.',
      ],
    ])
  })

  test('a database that the server does not have is one line of every command, and its export is refused', async () => {
    const url = new URL(server)
    url.pathname = '/no_such_database'
    for (const args of [['start'], ['migrate'], ['db', 'import', 'none']]) {
      const { code, output } = await trunkline(args, { cwd: home, env: { DATABASE_URL: url.href } })
      const problem = 'DATABASE_URL: the database cannot be used: database "no_such_database" does not exist.'
      // What a start logs comes through another pipe, before or after the line.
      const lines = output
        .trimEnd()
        .split('\n')
        .filter((line) => line !== 'connecting to PostgreSQL')
      expect([code, lines]).toEqual([1, [problem]])
    }
    const env = { DATABASE_URL: database.url }
    const exported = await trunkline(['db', 'export', join(home, 'export')], { cwd: home, env })
    expect([exported.code, exported.output]).toEqual([1, expect.stringContaining('pg_dump')])
  })

  test('an import names in one line what is wrong with its file', async () => {
    const broken = join(home, 'broken.gz')
    await writeFile(broken, 'not gzip')
    for (const [file, problem] of [
      [broken, /broken\.gz is broken: [^\n]+\n$/],
      [join(home, 'none'), /none cannot be used: ENOENT[^\n]*\n$/],
      [home, /cannot be used: EISDIR[^\n]*\n$/],
    ] as const) {
      const env = { DATABASE_URL: server }
      const { code, output } = await trunkline(['db', 'import', file], { cwd: home, env })
      expect([code, output]).toEqual([1, expect.stringMatching(problem)])
    }
  })

  test('missing migrations are an error in production', async () => {
    const empty = await createScratchDatabase(server, { template: undefined })
    onTestFinished(() => empty.drop())
    const env = { DATABASE_URL: empty.url }
    expect(await check(env)).toMatchObject({ ok: true })
    const { ok, of } = await check({ ...env, NODE_ENV: 'production' })
    expect([ok, of('database')[1]]).toEqual([
      false,
      expect.stringMatching(/^error .* lacks .* run "trunkline migrate"/),
    ])
  })

  test('tables that the user may not write are named', async () => {
    const name = `checked_${process.pid}`
    await query(server, `CREATE ROLE ${name} LOGIN PASSWORD 'hunter2'`)
    onTestFinished(async () => {
      await query(database.url, `DROP OWNED BY ${name}`)
      await query(server, `DROP ROLE ${name}`)
    })
    await query(database.url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`)
    await query(database.url, `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name}`)
    await query(database.url, `REVOKE UPDATE ON users, calls FROM ${name}`)
    const url = new URL(database.url)
    url.username = name
    url.password = 'hunter2'
    const { ok, of } = await check({ DATABASE_URL: url.href })
    expect([ok, of('database')[1]]).toEqual([
      false,
      'error DATABASE_URL: the user may not select, insert, update and delete in calls, users.',
    ])
  })

  test('a SECRET_KEY that does not read the secrets is an error', async () => {
    await query(
      database.url,
      `INSERT INTO signing_keys (id, public_jwk, sealed, secret, created_at)
       VALUES ('checked', '{}', true, 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', now() + interval '1 hour')`,
    )
    const { ok, of } = await check({ DATABASE_URL: database.url, SECRET_KEY: 'hunter2'.repeat(5) })
    expect([ok, ...of('secrets')]).toEqual([
      false,
      expect.stringMatching(/^error SECRET_KEY is not the one /),
    ])
  })
})
