import { randomUUID } from 'node:crypto'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { inventedKey } from '../support/contract/contract-gateway.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because readiness, time limits and recovery are those of a process whose database server goes away.

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('a database server', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let proxy: TcpProxy
  let platform: Platform
  /** Both gateways reach their database only through the proxy. */
  let gateway: TestGateway
  let reaper: TestGateway
  let api: Api
  let key: { id: string; full_key: string; owner_id: string }

  const readiness = async (target: TestGateway = gateway) => (await fetch(`${target.url}/readyz`)).status
  const callOf = (id: string) =>
    query<{ outcome: string | null; reason: string | null }>(
      database.url,
      'SELECT outcome, reason FROM calls WHERE request_id = $1',
      [id],
    )
  const expectNoDrift = async () => {
    const { code, output } = await gateway.trunkline('usage', 'verify')
    expect(output).toContain('agree')
    expect(code).toBe(0)
  }

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    proxy = await startTcpProxy(database.url)
    platform = await startPlatform()
  })
  afterAll(async () => {
    await gateway?.remove()
    await reaper?.remove()
    await proxy?.close()
    await platform?.close()
    await database?.drop()
  })
  afterEach(() => platform.release())

  test('down at the start: the process keeps running, is not ready, and recovers by itself', {
    timeout: 90_000,
  }, async () => {
    await proxy.cut()
    const options = { config: configOf(platform, { instance: { leaseMs: 2_000 } }), databaseUrl: proxy.url }
    gateway = await startGateway(options)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    expect(await readiness()).toBe(503)
    expect(await sendChat(gateway.url, inventedKey())).toMatchObject({ status: 503, reason: 'unavailable' })
    // It logs each reason for which it waits once.
    const waiting = () =>
      gateway.output
        .split('\n')
        .filter((line) => line.startsWith(`waiting for PostgreSQL at ${new URL(proxy.url).host}: `))
    await gateway.prints(/^waiting for PostgreSQL .* the connection is refused$/m)
    await proxy.restore()
    proxy.stall()
    await gateway.prints(/^waiting for PostgreSQL .* it does not answer$/m)
    expect(gateway.output).not.toContain('Trunkline is ready')

    await proxy.restore()
    await until('it is ready', async () => (await readiness()) === 200)
    await until('it prints that it is ready', () =>
      gateway.output.includes(`Trunkline is ready:  ${gateway.url}`),
    )
    await gateway.prints(/"level":"info".*"msg":"PostgreSQL at \S+ answers: the start is complete"/)
    const lines = waiting()
    expect(lines).toHaveLength(new Set(lines).size)
    // The first administrator exists as soon as the gateway is ready.
    api = apiOf(gateway)
    const token = await api.login()
    key = await api.createKey(token)
    reaper = await startGateway(options)
  })

  test('down during operation: a new chat is refused, a running one completes and is settled by its own process', {
    timeout: 60_000,
  }, async () => {
    platform.hold()
    const live = randomUUID()
    const reached = platform.received.length
    const answer = sendChat(gateway.url, key.full_key, live)
    await platform.receives(reached + 1)
    await proxy.cut()

    const refused = await sendChat(gateway.url, key.full_key)
    expect(refused).toMatchObject({ status: 503, reason: 'unavailable', retryAfter: '1' })
    expect(await readiness()).toBe(503)
    // The outage outlasts all leases, so every lease has expired when the database returns.
    await until('every lease has passed', async () => {
      const rows = await query(
        database.url,
        'SELECT FROM instances WHERE stopped_at IS NULL AND lease_until > now()',
      )
      return rows.length === 0
    })
    platform.release()
    expect(await answer).toMatchObject({ status: 200 })

    await proxy.restore()
    await until('the live call is settled', async () => (await callOf(live))[0]?.outcome === 'done')
    await until(
      'both are ready',
      async () => (await readiness()) === 200 && (await readiness(reaper)) === 200,
    )
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    // A rollup row would remain even if the late settlement of the owner had emptied it.
    expect(await query(database.url, "SELECT FROM rollups WHERE outcome = 'interrupted'")).toEqual([])
  })

  test('a stalled database never stalls a request, and calls that it admitted late are settled', {
    timeout: 60_000,
  }, async () => {
    const token = await api.login()
    proxy.stall()
    // A read may wait as long as the slowest report, a chat may not: limits in real time would be broken by a busy machine.
    let isRead = false
    const read = api.call('GET', '/api/v1/users/me', { token }).finally(() => {
      isRead = true
    })
    const ids = Array.from({ length: 30 }, () => randomUUID())
    const results = await Promise.all(ids.map((id) => sendChat(gateway.url, key.full_key, id)))
    expect([new Set(results.map(({ status }) => status)), isRead]).toEqual([new Set([503]), false])
    expect((await read).status).toBe(503)
    expect(await readiness()).toBe(503)

    await proxy.restore()
    await until('it is ready again', async () => (await readiness()) === 200)
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    await until('no call is left open', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
    for (const id of ids) {
      expect(platform.received).not.toContain(id)
      for (const call of await callOf(id))
        expect(call).toEqual({ outcome: 'rejected', reason: 'unavailable' })
    }
  })

  test('more statements waiting for a lock than the pool has connections do not stall requests either', {
    timeout: 60_000,
  }, async () => {
    const token = await api.login()
    const locker = new pg.Client({ connectionString: database.url })
    await locker.connect()
    try {
      await locker.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE')
      const reading = Promise.all(
        Array.from({ length: 25 }, () => api.call('GET', '/api/v1/users/me', { token })),
      )
      const results = await Promise.all(Array.from({ length: 10 }, () => sendChat(gateway.url, key.full_key)))
      for (const { status, retryAfter } of results) expect([status, retryAfter]).toEqual([503, '1'])
      // No statement still waits for the lock, although it is still held.
      for (const { status, headers } of await reading) {
        expect(status).toBe(503)
        expect(headers.get('retry-after')).toBe('1')
      }
    } finally {
      await locker.end()
    }
    await until('it serves again', async () => (await sendChat(gateway.url, key.full_key)).status === 200)
    await until('no call is left open', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
  })

  test('an admission whose result is lost after the commit is retried and counts once', async () => {
    const before = await api.call('GET', '/api/v1/users/me', { token: await api.login() })
    const id = randomUUID()
    const lost = proxy.loseNextAnswer(id)
    const [result] = await Promise.all([sendChat(gateway.url, key.full_key, id), lost])
    expect(result.status).toBe(200)
    expect(platform.received.filter((each) => each === id)).toHaveLength(1)
    await until('it is settled', async () => (await callOf(id))[0]?.outcome === 'done')
    expect(await callOf(id)).toHaveLength(1)
    const after = await api.call('GET', '/api/v1/users/me', { token: await api.login() })
    expect(after.body.data.api_calls_count).toBe(before.body.data.api_calls_count + 1)
    // Drift from earlier tests would still be visible, because nothing repairs it.
    await expectNoDrift()
  })
})
