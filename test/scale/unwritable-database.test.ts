import { randomUUID } from 'node:crypto'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Answer, type Api, apiOf, inOneYear } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because its sessions keep what they were opened with, and its last log line says what it could not write.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const server = process.env.E2E_DATABASE_URL ?? ''
const LEASE_MS = 3_000
const CALLS = 12

describe.skipIf(server === '')('a database that answers and takes no writes', () => {
  const role = `trunkline_${randomUUID().replaceAll('-', '')}`
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let platform: Platform
  let gateway: TestGateway
  let other: TestGateway
  let api: Api
  let token: string
  let key: string

  const name = () => new URL(database.url).pathname.slice(1)
  const asOperator = (statement: string) => query(database.url, statement)

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    platform = await startPlatform()
    await asOperator(`CREATE ROLE ${role} LOGIN PASSWORD 'an-obvious-fake'`)
    await asOperator(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
    await asOperator(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'an-obvious-fake'
    const config = configOf(platform, { instance: { leaseMs: LEASE_MS } })
    gateway = await startGateway({ config, databaseUrl: url.href })
    other = await startGateway({ config, databaseUrl: url.href })
    api = apiOf(gateway)
    token = await api.login()
    key = (await api.createKey(token)).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await other?.remove()
    await platform?.close()
    if (database !== undefined) await asOperator(`DROP OWNED BY ${role}`)
    await database?.drop()
    if (server !== '') await query(server, `DROP ROLE IF EXISTS ${role}`)
  })

  /** As an operator, or a server that becomes a standby, does it: sessions that are opened from now on only read. */
  async function makeReadOnly(): Promise<void> {
    await asOperator(`ALTER DATABASE ${name()} SET default_transaction_read_only = on`)
    await asOperator(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
  }

  /** Sessions that are open go on as they are. */
  const makeWritable = () => query(server, `ALTER DATABASE ${name()} RESET default_transaction_read_only`)

  const failures = async (cause: string) => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    const sample = new RegExp(
      `^trunkline_ledger_batch_failures_total\\{statement="settle",cause="${cause}"\\} (\\d+)$`,
      'm',
    )
    return Number(sample.exec(text)?.[1] ?? 0)
  }

  const readiness = () => api.call('GET', '/readyz')
  const isWritable = async () => (await readiness()).body.dependencies.database?.writable
  const newKey = (): Promise<Answer> =>
    api.call('POST', '/api/v1/api-keys', {
      token,
      body: { name: 'one', description: '', expires_at: inOneYear(), permissions: ['chat'] },
    })

  async function expectNothingLost(since: Date): Promise<void> {
    await until('every end is written', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
    const outcomes = await query<{ outcome: string }>(
      database.url,
      "SELECT DISTINCT outcome FROM calls WHERE admitted_at >= $1 AND outcome <> 'rejected'",
      [since],
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done'])
    // A row would remain even if the late settlement of its own process had taken a call out again.
    expect(await query(database.url, "SELECT FROM rollups WHERE outcome = 'interrupted'")).toEqual([])
    expect(await gateway.trunkline('usage', 'verify')).toMatchObject({ code: 0 })
  }

  test('while it is read only, what needs to write is 503, logins and reads go on, and no end is lost', async () => {
    const since = new Date(Date.now() - 60_000)
    platform.hold()
    const reached = platform.received.length
    const running = Promise.all(Array.from({ length: CALLS }, () => sendChat(gateway.url, key)))
    const kept = await api.chat(
      key,
      'counting',
      { query: 'kept', stream: true },
      { headers: { 'idempotency-key': 'kept' } },
    )
    await platform.receives(reached + CALLS + 1)
    await makeReadOnly()
    onTestFinished(async () => void (await makeWritable()))
    platform.release()
    expect(await kept.text()).toContain('[DONE]')
    expect((await running).map(({ status }) => status)).toEqual(Array(CALLS).fill(200))
    await until('their ends were tried again and again', async () => (await failures('read_only')) > 3)
    await until('readiness says so', async () => (await isWritable()) === false)
    expect(await readiness()).toMatchObject({
      status: 200,
      body: {
        status: 'ready',
        dependencies: { database: { ok: true, writable: false, detail: 'takes no writes: it is read only' } },
      },
    })

    const unavailable = { status: 503, body: { reason: 'unavailable' } }
    const change = (method: string, path: string, body?: object) => api.call(method, path, { token, body })
    for (let n = 0; n < 2; n += 1) {
      const refused = [
        await newKey(),
        await change('POST', '/api/v1/users', { username: 'anna', password: 'an obvious fake' }),
        await change('PUT', '/api/v1/users/me/password', {
          current_password: gateway.admin.password,
          new_password: 'an obvious fake',
        }),
        await change('POST', '/api/v1/logout'),
      ]
      for (const answer of refused) {
        expect(answer).toMatchObject(unavailable)
        expect(answer.headers.get('retry-after')).toBe('1')
      }
      const chat = await sendChat(gateway.url, key)
      expect(chat).toMatchObject({ status: 503, reason: 'unavailable', retryAfter: '1' })
      const completion = await api.call('POST', '/api/v1/chat/completions', {
        headers: { authorization: `Bearer ${key}` },
        body: { model: 'counting', messages: [{ role: 'user', content: 'Hello' }] },
      })
      expect([completion.status, completion.headers.get('retry-after')]).toEqual([503, '1'])
      const graphql = await api.call('POST', '/graphql', {
        token,
        body: {
          query:
            'mutation ($at: DateTime!) { createApiKey(input: { name: "two", description: "", expiresAt: $at, permissions: [CHAT] }) { fullKey } }',
          variables: { at: inOneYear() },
        },
      })
      expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503 })

      const reader = await api.login()
      for (const path of ['/api/v1/users/me', '/api/v1/users', '/api/v1/api-keys', '/api/v1/usage'])
        expect(await api.call('GET', path, { token: reader }), path).toMatchObject({ status: 200 })
      for (const path of ['/api/v1/calls?format=csv', '/api/v1/audit', '/api/v1/processes'])
        expect(await api.call('GET', path, { token: reader }), path).toMatchObject({ status: 200 })
      const wrong = { username: gateway.admin.username, password: 'not the password' }
      expect(await api.call('POST', '/api/v1/login', { body: wrong })).toMatchObject({ status: 401 })
    }

    await makeWritable()
    // Its sessions were opened while the database was read only. None of them is used again after an error.
    await until('keys can be made', async () => (await newKey()).status === 200)
    await until('chats are admitted', async () => (await sendChat(gateway.url, key)).status === 200)
    await expectNothingLost(since)
    const headers = { authorization: `Bearer ${key}` }
    await until('the reply that ended meanwhile is kept', async () => {
      const { status } = await api.call('GET', '/api/v1/calls/key:kept/reply', { headers })
      return status === 200
    })
    await until('readiness says so', async () => (await isWritable()) === true)
    expect(gateway.output).toContain('"msg":"the database cannot write: it is read only"')
    expect(gateway.output).toContain('"msg":"the database can write again"')
    for (const { output } of [gateway, other])
      expect(output).not.toContain('the open calls of dead instances were settled')
  })

  test('while a right is missing, the ends that are held are named, and written when it is granted', async () => {
    const since = new Date(Date.now() - 60_000)
    await asOperator(`REVOKE UPDATE ON rollups FROM ${role}`)
    onTestFinished(async () => void (await asOperator(`GRANT UPDATE ON rollups TO ${role}`)))
    // The admission of a call does not need this right, so that its end alone is at stake.
    const { status, id } = await sendChat(gateway.url, key)
    expect(status).toBe(200)
    const [call] = await query<{ id: string }>(database.url, 'SELECT id FROM calls WHERE request_id = $1', [
      id,
    ])
    await until('the end is named', async () => {
      const { code, output } = await gateway.trunkline('usage', 'verify')
      return code === 1 && output.includes(`call ${call?.id}, process `) && output.includes('are settled')
    })
    expect(await readiness()).toMatchObject({
      status: 200,
      body: {
        dependencies: { database: { detail: 'takes no writes: the role of the gateway lacks a right' } },
      },
    })
    await asOperator(`GRANT UPDATE ON rollups TO ${role}`)
    await expectNothingLost(since)
  })

  test('the last line of a drain says how many ends could not be written', async () => {
    platform.hold()
    const reached = platform.received.length
    const running = Promise.all([sendChat(other.url, key), sendChat(other.url, key)])
    await platform.receives(reached + 2)
    await makeReadOnly()
    onTestFinished(async () => void (await makeWritable()))
    platform.release()
    await running
    expect(await other.stop()).toBe(0)
    const lines = other.stdout.split('\n').filter((line) => line.startsWith('{'))
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'warn', endsNotWritten: 2, msg: 'stopped' })
    await makeWritable()
    // The process could not write that it has left, so its lease runs out.
    await until('another process has settled them', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
    await gateway.stop()
    expect(gateway.stdout.trimEnd().split('\n').at(-1)).toContain('"endsNotWritten":0,"msg":"stopped"')
  })
})
