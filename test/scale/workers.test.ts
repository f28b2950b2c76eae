import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { buildConsole } from '../support/console.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, countByReason, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

const WORKERS = 3
const LEASE_MS = 3_000

/** `WORKERS`: several processes on one port. */
describe.skipIf(process.env.E2E_DATABASE_URL === undefined)('three workers', () => {
  let platform: Platform
  let gateway: TestGateway
  let api: Api
  let token: string
  let key: { id: string; full_key: string }

  beforeAll(async () => {
    await buildConsole()
    platform = await startPlatform()
    gateway = await startGateway({
      config: configOf(platform, { instance: { leaseMs: LEASE_MS } }),
      env: { WORKERS: String(WORKERS) },
    })
    api = apiOf(gateway)
    token = await api.login()
    key = await api.createKey(token)
    await until('all workers have joined', async () => (await live()) === WORKERS)
  }, 120_000)
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
  })

  const live = async () => {
    const rows = await query(
      gateway.databaseUrl ?? '',
      'SELECT FROM instances WHERE stopped_at IS NULL AND lease_until > now()',
    )
    return rows.length
  }

  const open = () => query(gateway.databaseUrl ?? '', 'SELECT FROM calls WHERE outcome IS NULL')

  test('print the address of the console once, and each serves it', async () => {
    await gateway.prints(/^Trunkline is ready:.*$/m)
    expect(gateway.output.match(/^Trunkline is ready:.*$/gm)).toEqual([
      expect.stringMatching(`^Trunkline is ready:  ${gateway.url}/console `),
    ])
    const pages = await Promise.all(Array.from({ length: 12 }, () => fetch(`${gateway.url}/console/usage`)))
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('share the calls, and a scrape of any worker covers the calls of all', async () => {
    const results = await Promise.all(Array.from({ length: 60 }, () => sendChat(gateway.url, key.full_key)))
    expect(countByReason(results)).toEqual({ 200: 60 })
    const rows = await query(gateway.databaseUrl ?? '', 'SELECT DISTINCT instance FROM calls')
    expect(rows.length).toBeGreaterThan(1)
    await until('the metrics of all are 60 calls', async () => {
      const text = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
      return /^trunkline_calls_total\{agent="counting",outcome="done",reason=""\} 60$/m.test(text)
    })
  })

  test('without Redis each worker enforces its share of the limits', async () => {
    const { full_key } = await api.createKey(token, { limits: { chat_per_minute: 30 } })
    await until('each has seen the others', async () => {
      const [row] = await query<{ knowing: number }>(
        gateway.databaseUrl ?? '',
        `SELECT count(*)::int AS knowing FROM instances
         WHERE stopped_at IS NULL AND lease_until - $1 * interval '1 ms' > (SELECT max(started_at) FROM instances)`,
        [LEASE_MS],
      )
      return row?.knowing === WORKERS
    })
    const { 200: admitted = 0, ...rest } = countByReason(
      await Promise.all(Array.from({ length: 300 }, () => sendChat(gateway.url, full_key))),
    )
    expect(admitted).toBeLessThanOrEqual(30)
    expect(rest).toEqual({ rate_limited: 300 - admitted })
  })

  test('a worker that dies is replaced', async () => {
    const [pid] = workerPids(gateway.output)
    process.kill(pid ?? 0, 'SIGKILL')
    await until('another has taken its place', () => workerPids(gateway.output).length === WORKERS + 1)
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    await until("the dead worker's calls are ended", async () => (await open()).length === 0)
  })

  test('SIGTERM to the primary shuts down all workers gracefully', async () => {
    platform.hold()
    const reached = platform.received.length
    const live = sendChat(gateway.url, key.full_key)
    await platform.receives(reached + 1)
    const stopped = gateway.stop()
    platform.release()
    expect((await live).status).toBe(200)
    expect(await stopped).toBe(0)
    expect(await open()).toEqual([])
  })
})

/** Returns the process ids of all workers that have logged that they are listening. */
function workerPids(output: string): number[] {
  return [...output.matchAll(/"pid":(\d+).*"msg":"listening"/g)].map(([, pid]) => Number(pid))
}
