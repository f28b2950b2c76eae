import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createScratchBucket,
  LISTING,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { prepareGateway, startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { inBucket } from '../support/uploads.ts'

// A process, because settings come from a file, the environment and a folder, and a start refuses them by its exit code.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-'))
})
afterAll(() => rm(home, { recursive: true }))

async function check(file: string | undefined, env: Record<string, string> = {}) {
  const cwd = await mkdtemp(join(home, 'check-'))
  if (file !== undefined) await writeFile(join(cwd, 'gateway.config.yaml'), file)
  return trunkline(['config', 'check'], { cwd, env })
}

test('a valid configuration is reported as valid, with its agents', async () => {
  const { code, output } = await check(
    `agents: {dify: {baseUrl: https://api.dify.ai/v1, apiKey: "\${DIFY}"}}`,
    {
      DIFY: 'app-1',
    },
  )
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/^The configuration is good \(.*\)\. Agents: dify\.\n$/m),
  ])
  expect(await check(undefined)).toMatchObject({ code: 0, output: expect.stringContaining('sandbox mode') })
})

test('every error is one line that names its place and contains no secret', async () => {
  const file = `
agents:
  dify: { baseUrl: "ftp://x", apiKey: "\${NOT_SET}" }
  My Agent: { platform: dify, baseUrl: https://api.dify.ai }
limits: { chat: { points: 0 } }
tpyo: true
`
  const { code, output } = await check(file, {
    PORT: '99999',
    SECRET_KEY: 'too-short-a-secret',
    LOG_LEVEL: 'loud',
  })
  expect(code).toBe(1)
  const lines = output.trimEnd().split('\n')
  for (const place of [
    'agents.dify.baseUrl',
    'agents.dify.apiKey',
    'agents["My Agent"]',
    'limits.chat.points',
    'tpyo',
    'PORT',
    'SECRET_KEY',
    'LOG_LEVEL',
  ]) {
    expect(lines.filter((line) => line.startsWith(`${place}: `))).toHaveLength(1)
  }
  expect(lines).toHaveLength(8)
  expect(output).not.toMatch(/too-short-a-secret|^\s+at /m)
})

test('a start names a variable that looks misspelt, once for all workers, and starts nevertheless', async () => {
  const env = { LOGLEVEL: 'debug', ...(process.env.E2E_DATABASE_URL !== undefined && { WORKERS: '2' }) }
  const gateway = await startGateway({ env })
  onTestFinished(() => gateway.remove())
  if (env.WORKERS !== undefined) await gateway.prints(/"msg":"listening".*"msg":"listening"/s)
  const lines = gateway.output.split('\n').filter((line) => line.includes('LOGLEVEL'))
  expect(lines).toEqual([expect.stringContaining('"LOGLEVEL: is not read; did you mean LOG_LEVEL?"')])
})

test('neither the start nor the check takes a misspelt environment for a sandbox', async () => {
  for (const command of [['start'], ['config', 'check'], ['migrate'], []]) {
    const cwd = await mkdtemp(join(home, 'capital-'))
    const { code, output } = await trunkline(command, {
      cwd,
      env: { NODE_ENV: 'Production', HOST: 'http://0.0.0.0' },
    })
    expect([code, output.trimEnd().split('\n'), await readdir(cwd)]).toEqual([
      1,
      [
        'NODE_ENV: expected one of development, test, production, got "Production"',
        'HOST: expected an IP address or a host name, without a port, got "http://0.0.0.0"',
      ],
      [],
    ])
  }
})

test('a check of the configuration creates nothing', async () => {
  const cwd = await mkdtemp(join(home, 'empty-'))
  const { code } = await trunkline(['config', 'check'], { cwd, env: { DATA_DIR: 'data' } })
  expect([code, await readdir(cwd)]).toEqual([0, []])
})

const s3 = s3TestServer()

describe.skipIf(s3 === undefined)('the storage of files is checked with real requests, which', () => {
  let bucket: ScratchBucket

  beforeAll(async () => {
    if (s3 !== undefined) bucket = await createScratchBucket(s3)
  })
  afterAll(() => bucket?.drop())
  afterEach(async () => expect(await bucket.leftovers()).toEqual([]))

  async function checkStorage(env: Record<string, string> = {}, uploads = {}) {
    const agents = { dify: { baseUrl: 'https://api.dify.ai/v1', apiKey: 'app-1' } }
    // Few enough for every limit of open files.
    const bounds = { connectionsMax: 10, chat: { inFlightMax: 10 } }
    const file = JSON.stringify({ agents, uploads, ...bounds })
    const { code, output } = await check(file, { ...inBucket(bucket), ...env })
    return {
      code,
      lines: output
        .trimEnd()
        .split('\n')
        .filter((line) => !/^OK: (DATABASE_URL|DATA_DIR): /.test(line)),
    }
  }
  const STORED = expect.stringMatching(
    /^OK: S3_BUCKET: a file can be written to \S+ at \S+, read by its URL and removed\.$/,
  )
  const GOOD = expect.stringMatching(/^The configuration is good \(.*\)\. Agents: dify\.$/)
  const unreachable = 'http://127.0.0.1:2'

  test('succeed where files can be written, read by their URLs and removed', async () => {
    expect(await checkStorage()).toEqual({ code: 0, lines: [STORED, GOOD] })
  })

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'the secret',
      { AWS_SECRET_ACCESS_KEY: 'hunter2' },
      /^AWS_SECRET_ACCESS_KEY: the secret does not belong/,
    ],
    ['the key', { AWS_ACCESS_KEY_ID: 'unknown' }, /^AWS_ACCESS_KEY_ID: S3 does not know this key\./],
    ['the bucket', { S3_BUCKET: 'no-such-bucket' }, /^S3_BUCKET: there is no bucket no-such-bucket at /],
    [
      'the server',
      { S3_ENDPOINT: unreachable },
      /^S3 at 127\.0\.0\.1:2 cannot be reached \(ECONNREFUSED\)\.$/,
    ],
    [
      'the public URL',
      { S3_PUBLIC_URL: `${unreachable}/files` },
      /^S3_PUBLIC_URL: the URL of a file at http:\/\/127\.0\.0\.1:2 cannot be reached \(ECONNREFUSED\)\.$/,
    ],
    [
      'the policy of the public URL',
      { S3_PUBLIC_URL: `${s3?.endpoint}/${s3?.bucket}` },
      /^S3_PUBLIC_URL: .* answers 40[34]\. Everybody must be allowed to read uploads\/\* there\.$/,
    ],
  ])('fail with one line that names %s if that is wrong', async (_, env, message) => {
    const { code, lines } = await checkStorage(env)
    const error = `Error: ${message.source.replace('^', '')}`
    const count = expect.stringMatching(/^The configuration has an error \(.*\)\.$/)
    expect([code, lines]).toEqual([1, [expect.stringMatching(`^${error}`), count]])
    expect(lines.join()).not.toContain('hunter2')
  })

  test('warn that files outlive their URLs', async () => {
    expect(await checkStorage({}, { retentionDays: 30 })).toEqual({
      code: 0,
      lines: [
        'Warning: uploads.retentionDays: files are kept for 30 days, but a pre-signed URL ends after 7; set S3_PUBLIC_URL for longer lives.',
        STORED,
        GOOD,
      ],
    })
    expect(await checkStorage({}, { retentionDays: 7 })).toEqual({ code: 0, lines: [STORED, GOOD] })
  })

  test('warn what credentials that may not list never remove', async () => {
    await bucket.setPolicy({ effect: 'Deny', actions: LISTING })
    const checked = await checkStorage().finally(() => bucket.setPolicy())
    const notes = ['files without a record', 'parts of interrupted uploads'].map((leftovers) =>
      expect.stringMatching(
        `^Warning: The credentials lack s3:List\\w+, so ${leftovers} are never removed\\.$`,
      ),
    )
    expect(checked).toEqual({ code: 0, lines: [...notes, STORED, GOOD] })
  })
})

describe('production', () => {
  const env: Record<string, string> = { NODE_ENV: 'production', ADMIN_PASSWORD: '' }
  const config = 'agents: {dify: {baseUrl: https://api.dify.ai/v1, apiKey: app-1}}'
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await prepareGateway({ config, env, isFirstStart: true })
  })
  afterAll(() => gateway.remove())

  test('does not fall back to sandbox mode without a configuration file', async () => {
    const { code, output } = await trunkline(['start'], { cwd: home, env: { NODE_ENV: 'production' } })
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(
        /^GATEWAY_CONFIG: missing, and there is no .*\nDATABASE_URL: missing: production needs it, or DATA_DIR .*\n$/,
      ),
    ])
  })

  test('does not start until the database has been migrated with a command', async () => {
    const refused = await gateway.trunkline('start')
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(
      /^The database lacks \d+ migrations?: run "trunkline migrate" first \(.+\)\.$/m,
    )
    // As a container for this one command runs it, in which there is no configuration.
    env.GATEWAY_CONFIG = 'nowhere.yaml'
    expect(await gateway.trunkline('migrate')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Applied: \d+_baseline/m),
    })
    expect((await gateway.trunkline('migrate')).output).toContain('The database is up to date.')
    delete env.GATEWAY_CONFIG
  })

  test('does not generate a password for its administrator', async () => {
    expect(await gateway.trunkline('start')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^ADMIN_PASSWORD: is required in production while there is no user;/m),
    })
  })

  test('starts when all of these are set, prints no secret, and needs the password only once', async () => {
    env.ADMIN_PASSWORD = gateway.admin.password
    await gateway.start()
    expect(gateway.output).toContain('the first administrator was created')
    const { output } = await gateway.trunkline('processes', '--json')
    expect(JSON.parse(output)).toHaveLength(1)
    expect(gateway.output).not.toMatch(new RegExp(`curl|${gateway.admin.password}`))
    expect(await gateway.stop()).toBe(0)
    env.ADMIN_PASSWORD = ''
    await gateway.start()
  })
})
