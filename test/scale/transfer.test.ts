import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { apiOf, chatBody } from '../support/api.ts'
import { startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { query } from '../support/query.ts'

// A process, because the commands of a transfer move a database between two gateways that are started on it.

const server = process.env.E2E_DATABASE_URL ?? ''
/** Contains U+2028, which some line readers treat as a line end. */
const QUESTION = 'Two\nlines\u2028and "more" \\ 你好'
const NEVER_ANALYZED =
  "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'public' AND last_analyze IS NULL"
/** Not exactly representable as a JavaScript number. */
const MANY_CALLS = '9007199254740993'

describe.runIf(server)('an embedded database moves to PostgreSQL', () => {
  let home: string
  let gateway: TestGateway
  let fullKey: string
  /** Path of an export that was made while the gateway was running. */
  let plain: string
  /** URL of an empty target, which every failing import must leave unchanged. */
  let empty: string
  let dropEmpty: () => Promise<void>

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trunkline-transfer-'))
    gateway = await startGateway({ env: { DATABASE_URL: '', DATA_DIR: join(home, 'data') } })
    fullKey = await useEverything(gateway)
    await gateway.stop()
    await inEmbedded((sql) =>
      sql.query(`UPDATE users SET max_api_calls = ${MANY_CALLS} WHERE username = 'mover'`),
    )
    await gateway.start()
    plain = join(home, 'plain.ndjson')
    await gateway.trunkline('db', 'export', plain)
    const database = await migrated()
    empty = database.url
    dropEmpty = database.drop
  })

  afterAll(async () => {
    await gateway.remove()
    await dropEmpty()
    await rm(home, { recursive: true })
  })

  test('row by row, if exported while the gateway is running', { timeout: 90_000 }, async () => {
    const { url, drop } = await migrated()
    onTestFinished(drop)
    expect(await importInto(url, plain)).toMatchObject({ code: 0 })

    await gateway.stop()
    // The gateway may have begun the maintenance in between.
    const { instances: _own, maintenance: _its, ...before } = await inEmbedded(rowsOf)
    const { instances, maintenance: _none, ...after } = await inServer(url)
    expectMoved(before, after)
    // Autovacuum may run late or not at all.
    expect(await query(url, NEVER_ANALYZED)).toEqual([])
    // The gateway kept working during the export.
    expect(instances?.at(-1)).toContain('"stopped_at": null')
    await gateway.start()
  })

  test('row by row, if exported while it is stopped, and passwords and keys stay valid', {
    timeout: 90_000,
  }, async () => {
    // The emulators lost their conversations in the restart in between.
    await chat(gateway, fullKey, 'dify', QUESTION)
    await gateway.stop()
    const file = join(home, 'stopped.ndjson.gz')
    expect(await gateway.trunkline('db', 'export', file)).toMatchObject({ code: 0 })
    const { url, drop } = await migrated()
    onTestFinished(drop)
    expect(await importInto(url, file)).toMatchObject({ code: 0 })

    const before = await inEmbedded(rowsOf)
    expectMoved(before, await inServer(url))
    const filled = [
      'api_keys',
      'calls',
      'conversations',
      'listed_conversations',
      'rollups',
      'settings',
      'signing_keys',
      'turns',
      'users',
    ]
    for (const table of filled) expect(before[table], table).not.toEqual([])
    expect(before.users?.join()).toContain(MANY_CALLS)
    await gateway.start()

    const moved = await startGateway({ env: { DATABASE_URL: url } })
    onTestFinished(() => moved.remove())
    const api = apiOf(moved)
    await expect(api.login('mover', 'password of mover')).resolves.toEqual(expect.any(String))
    const reply = await chat(moved, fullKey, 'openai', 'And now?')
    expect(reply).toMatchObject({ status: 200 })
    expect((await moved.trunkline('usage', 'verify')).output).toContain('agree')
  })

  test('a target that is not empty is rejected and stays unchanged', async () => {
    await query(empty, `INSERT INTO settings VALUES ('mine', 'stays')`)
    onTestFinished(async () => void (await query(empty, 'DELETE FROM settings')))
    const { code, output } = await importInto(empty, plain)
    expect({ code, output }).toEqual({ code: 1, output: 'The database is not empty: settings.\n' })
    expect(Object.values(await inServer(empty)).flat()).toHaveLength(1)
  })

  test('a target without the migrations is rejected', async () => {
    const { url, drop } = await createScratchDatabase(server, { template: undefined })
    onTestFinished(drop)
    expect((await importInto(url, plain)).output).toContain('run "trunkline migrate"')
  })

  test.each([
    ['cut off', (text: string) => text.slice(0, text.lastIndexOf('{"end"')), 'cut off'],
    ['cut in a line', (text: string) => text.slice(0, -300), 'cut off'],
    ['changed', (text: string) => text.replace('"mover"', '"moved"'), 'checksum'],
    ['short of a row', (text: string) => text.replace(/\n\{"row[^\n]+/, ''), 'checksum'],
    ['not JSON', (text: string) => text.replace('\n{"', '\n{'), 'broken'],
    [
      'of another format',
      (text: string) => text.replace('"trunklineExport":1', '"trunklineExport":2'),
      'format 1',
    ],
    ['of other migrations', (text: string) => text.replace('_baseline', '_other'), 'other migrations'],
  ])('a file that is %s leaves the target empty', async (_name, breakIt, message) => {
    const text = await readFile(plain, 'utf8')
    const broken = breakIt(text)
    expect(broken).not.toBe(text)
    const file = join(home, 'broken.ndjson')
    await writeFile(file, broken)

    const { code, output } = await importInto(empty, file)
    expect(output).toContain(message)
    expect(code).toBe(1)
    expect(Object.values(await inServer(empty)).flat()).toEqual([])
  })

  test('the file is readable by its owner only, contains one JSON object per line, and never replaces an existing file', async () => {
    expect((await stat(plain)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(plain, 'utf8')).trimEnd().split('\n')
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    expect((await gateway.trunkline('db', 'export', plain)).output).toContain('already')
    expect((await readFile(plain, 'utf8')).trimEnd().split('\n')).toEqual(lines)
  })

  async function inEmbedded<T>(
    read: (sql: { query<Row>(text: string): Promise<Row[]> }) => Promise<T>,
  ): Promise<T> {
    const database = await openDatabase({ kind: 'embedded', dataDir: join(home, 'data') })
    return read(database.sql).finally(() => database.close())
  }
})

/** Creates rows in every table that a gateway fills, and returns a key. */
async function useEverything(gateway: TestGateway): Promise<string> {
  const api = apiOf(gateway)
  const token = await api.login()
  const { id } = await api.createUser(token, 'mover', { quota_period: 'month' })
  const { full_key } = await api.createKey(token, {
    owner_id: id,
    allowed_agents: ['openai', 'dify', 'fastgpt'],
  })
  for (const agent of ['openai', 'dify', 'fastgpt']) {
    expect(await chat(gateway, full_key, agent, QUESTION)).toMatchObject({ status: 200 })
  }
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

/** Creates an empty database with the schema of this version. */
async function migrated() {
  const database = await createScratchDatabase(server, { template: undefined })
  expect(await trunkline(['migrate'], { env: { DATABASE_URL: database.url } })).toMatchObject({ code: 0 })
  return database
}

function importInto(url: string, file: string) {
  return trunkline(['db', 'import', file], { env: { DATABASE_URL: url } })
}

function inServer(url: string): Promise<Record<string, string[]>> {
  return rowsOf({ query: (text) => query(url, text) as never })
}

/** Returns every row of every table as text, sorted. */
async function rowsOf(sql: { query<Row>(text: string): Promise<Row[]> }): Promise<Record<string, string[]>> {
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
