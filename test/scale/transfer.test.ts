import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import {
  createScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { apiOf, chatBody } from '../support/api.ts'
import { launch, startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { query } from '../support/query.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { inBucket, ON_DISK, type UploadRecord, uploadFile } from '../support/uploads.ts'

// A process, because the commands of a transfer are killed and repeated, and gateways serve from both ends of it.

// Every command starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const server = process.env.E2E_DATABASE_URL ?? ''
const s3 = s3TestServer()
const FIXTURES = join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures')
/** Contains U+2028, which some line readers treat as a line end. */
const QUESTION = 'Two\nlines\u2028and "more" \\ 你好'
/** Not exactly representable as a JavaScript number. */
const MANY_CALLS = '9007199254740993'
const NEVER_ANALYZED =
  "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'public' AND last_analyze IS NULL"
const FILLED = ['api_keys', 'calls', 'conversations', 'rollups', 'settings', 'signing_keys', 'turns', 'users']

describe.runIf(server)('an embedded database moves to PostgreSQL', () => {
  /** Read again at every command. */
  const env: Record<string, string> = {}
  let home: string
  let gateway: TestGateway
  let key: string
  let served: unknown[]
  const target = (name: string) => join(home, name)

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trunkline-transfer-'))
    Object.assign(env, { DATABASE_URL: '', DATA_DIR: target('data'), ...ON_DISK })
    gateway = await startGateway({ env })
    key = await useEverything(gateway)
    await gateway.stop()
    await inEmbedded((sql) =>
      sql.query(`UPDATE users SET max_api_calls = ${MANY_CALLS} WHERE username = 'mover'`),
    )
    await gateway.start()
    // The emulators lost their conversations in the restart.
    await chat(gateway, key, 'dify', QUESTION)
    served = await servedBy(gateway, key)
  })
  afterAll(async () => {
    await gateway?.remove()
    await rm(home, { recursive: true })
  })

  async function exported(name: string, destination: string): Promise<Record<string, number>> {
    const result = await gateway.trunkline('db', 'export', target(name), '--files', destination, '--json')
    expect(result).toEqual({ code: 0, output: result.output })
    return JSON.parse(result.output)
  }

  /** Imports an export into a new database, and returns its URL. */
  async function imported(name: string): Promise<string> {
    const { url, drop } = await createScratchDatabase(server, { template: undefined })
    onTestFinished(drop)
    expect((await importInto(url, target(name))).output).toContain('run its "trunkline migrate"')
    expect(await trunkline(['migrate'], { env: { DATABASE_URL: url } })).toMatchObject({ code: 0 })
    expect(await importInto(url, target(name))).toMatchObject({ code: 0 })
    return url
  }

  test('row by row while the gateway runs, with its files, and passwords, keys and sums stay valid', async () => {
    expect(await exported('running.ndjson.gz', target('other/files'))).toMatchObject({ uploaded_files: 2 })
    const url = await imported('running.ndjson.gz')
    expect((await importInto(url, target('running.ndjson.gz'))).output).toMatch(
      /^The database is not empty: .*users.*\.\n$/,
    )
    // Autovacuum may run late or not at all.
    expect(await query(url, NEVER_ANALYZED)).toEqual([])

    // The other tests export without the gateway.
    await gateway.stop()
    // The gateway kept working during the export, and may have begun the maintenance in between.
    const { instances: _own, maintenance: _its, ...before } = await inEmbedded(rowsOf)
    const {
      instances,
      maintenance: _none,
      ...after
    } = await rowsOf({ query: (text) => query(url, text) as never })
    expectMoved(before, after)
    expect(instances?.at(-1)).toContain('"stopped_at": null')
    for (const table of FILLED) expect(before[table], table).not.toEqual([])
    expect(before.users?.join()).toContain(MANY_CALLS)

    const moved = await startGateway({ env: { ...ON_DISK, DATABASE_URL: url, DATA_DIR: target('other') } })
    onTestFinished(() => moved.remove())
    await expect(apiOf(moved).login('mover', 'password of mover')).resolves.toEqual(expect.any(String))
    expect(await chat(moved, key, 'openai', 'And now?')).toMatchObject({ status: 200 })
    expect((await moved.trunkline('usage', 'verify')).output).toContain('agree')
    expect(await servedBy(moved, key)).toEqual(served)
  })

  test('without a gateway, with the files that there are, of which a repeated export copies only those that are missing', async () => {
    await exported('first.ndjson', target('folder'))
    const [one = '', two = ''] = await filesIn(target('folder'))
    const { mtimeMs } = await stat(two)
    await rm(one)
    const source = join(target('data/files'), one.slice(target('folder').length))
    const content = readFileSync(source)
    await rm(source)
    const less = await exported('less.ndjson', target('folder'))
    expect(less).toMatchObject({ uploads: 2, uploaded_files: 1, missing_files: 1 })
    await writeFile(source, content)
    const more = await exported('more.ndjson', target('folder'))
    expect(more).toMatchObject({ uploaded_files: 2 })
    expect(more).not.toHaveProperty('missing_files')
    expect((await stat(two)).mtimeMs).toBe(mtimeMs)
  })

  test.skipIf(s3 === undefined)(
    'with its files to a bucket, also if the first attempt is killed',
    async () => {
      if (s3 === undefined) return
      await gateway.stop()
      const bucket = await createScratchBucket(s3)
      onTestFinished(() => bucket.drop())
      Object.assign(env, inBucket(bucket))
      const proxy = await startTcpProxy(s3.endpoint)
      onTestFinished(() => proxy.close())
      const through = { ...env, S3_ENDPOINT: proxy.url, PATH: process.env.PATH ?? '' }
      const { child } = launch(['db', 'export', target('killed.ndjson'), '--files', 's3'], home, through)
      await until('a file or a part of one is there', async () => (await bucket.leftovers()).length > 0)
      proxy.stall()
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited

      expect(await exported('again.ndjson', 's3')).toMatchObject({ uploaded_files: 2 })
      const url = await imported('again.ndjson')
      const moved = await startGateway({ env: { ...inBucket(bucket), DATABASE_URL: url } })
      onTestFinished(() => moved.remove())
      expect(await servedBy(moved, key)).toEqual(served)
      await query(url, "UPDATE uploads SET created_at = created_at - interval '2 days'")
      const sweep = await moved.trunkline('uploads', 'sweep', '--json')
      expect(JSON.parse(sweep.output)).toMatchObject({ records: 0, files: 0, suspicious: 0 })
    },
  )

  async function inEmbedded<T>(read: (sql: Queried) => Promise<T>): Promise<T> {
    const database = await openDatabase({ kind: 'embedded', dataDir: target('data') })
    return read(database.sql).finally(() => database.close())
  }
})

interface Queried {
  query<Row>(text: string): Promise<Row[]>
}

/** Creates rows in every table that a gateway fills, and two files, and returns a key. */
async function useEverything(gateway: TestGateway): Promise<string> {
  const api = apiOf(gateway)
  const token = await api.login()
  const { id } = await api.createUser(token, 'mover', { quota_period: 'month' })
  const { full_key } = await api.createKey(token, {
    owner_id: id,
    permissions: ['chat', 'upload'],
    allowed_agents: ['openai', 'dify', 'fastgpt'],
  })
  for (const agent of ['openai', 'dify', 'fastgpt']) {
    expect(await chat(gateway, full_key, agent, QUESTION)).toMatchObject({ status: 200 })
  }
  const fixture = (name: string) => new Uint8Array(readFileSync(join(FIXTURES, name)))
  const large = Buffer.concat([fixture('ffmpeg.mp4'), Buffer.alloc(12 * 1024 * 1024, 'video')])
  await uploadFile(gateway.url, full_key, large, 'film.mp4')
  await uploadFile(gateway.url, full_key, fixture('reportlab.pdf'), 'Größe 报告 "x" 100%.pdf')
  await api.call('POST', '/api/v1/logout', { token })
  return full_key
}

function chat(gateway: TestGateway, key: string, agent: string, text: string) {
  return apiOf(gateway).call('POST', '/api/v1/chat', {
    token: key,
    headers: { agent },
    body: chatBody({ query: text }),
  })
}

function importInto(url: string, file: string) {
  return trunkline(['db', 'import', file], { env: { DATABASE_URL: url } })
}

/** What the URLs of the uploads answer. */
async function servedBy(gateway: TestGateway, key: string): Promise<unknown[]> {
  const { body } = await apiOf(gateway).call('GET', '/api/v1/uploads', { token: key })
  const uploads: UploadRecord[] = body.data.items
  return Promise.all(
    uploads.map(async ({ id, filename, url }) => {
      const response = await fetch(url)
      return {
        id,
        filename,
        status: response.status,
        body: Buffer.from(await response.arrayBuffer()),
        type: response.headers.get('content-type'),
        // The name after it is the one that the client sent on disk, and the one in the URL on S3.
        disposition: response.headers.get('content-disposition')?.split(';')[0],
      }
    }),
  )
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** Returns every row of every table as text, sorted. */
async function rowsOf(sql: Queried): Promise<Record<string, string[]>> {
  const tables = await sql.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'",
  )
  const contents: Record<string, string[]> = {}
  for (const { name } of tables) {
    const rows = await sql.query<{ row: string }>(
      `SELECT row FROM (SELECT to_jsonb(t)::text AS row FROM ${name} t) r ORDER BY row COLLATE "C"`,
    )
    contents[name] = rows.map(({ row }) => row)
  }
  return contents
}

/** Everything is the same, and the audit log has one more event: that of the import. */
function expectMoved(before: Record<string, string[]>, after: Record<string, string[]>): void {
  const { audit_head: _was, ...expected } = before
  const { audit_head: _is, audit_events: events = [], ...moved } = after
  const imported = events.filter((row) => row.includes('"operation": "database.import"'))
  expect(imported).toHaveLength(1)
  expect({ ...moved, audit_events: events.filter((row) => !imported.includes(row)) }).toEqual(expected)
}
