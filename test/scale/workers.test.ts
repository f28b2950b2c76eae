import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, countByReason, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because workers are processes on one port, which are killed and replaced.

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
    platform = await startPlatform()
    gateway = await startGateway({
      config: configOf(platform, { instance: { leaseMs: LEASE_MS } }),
      env: { WORKERS: String(WORKERS) },
    })
    api = apiOf(gateway)
    token = await api.login()
    key = await api.createKey(token)
    await until('all workers have joined', async () => (await live()) === WORKERS)
  })
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
    let sent = 0
    // On a busy machine the system may give one worker all connections of a moment.
    await until('more than one worker has served calls', async () => {
      const results = await Promise.all(Array.from({ length: 60 }, () => sendChat(gateway.url, key.full_key)))
      expect(countByReason(results)).toEqual({ 200: 60 })
      sent += 60
      const rows = await query(gateway.databaseUrl ?? '', 'SELECT DISTINCT instance FROM calls')
      return rows.length > 1
    })
    await until('the metrics of all are these calls', async () => {
      const text = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
      return text.includes(`\ntrunkline_calls_total{agent="counting",outcome="done",reason=""} ${sent}\n`)
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

  test('a worker that is killed is logged, counted and replaced, and no counter goes back', async () => {
    await Promise.all(Array.from({ length: 30 }, () => sendChat(gateway.url, key.full_key)))
    let seen = await scrapeAnew()
    const before = numberIn(seen, 'trunkline_calls_total{agent="counting",outcome="done",reason=""}')
    const scrapeOn = async () => {
      const shown = await scrape()
      for (const [series, value] of seen) expect(shown.get(series), series).toBeGreaterThanOrEqual(value)
      seen = shown
    }
    const [killed] = listeningWorkers()
    const others = childrenOf(gateway.pid)
    process.kill(killed?.pid ?? 0, 'SIGKILL')
    // A replacement that dies at its start does not stop the others, and the next one is tried later.
    const replacement = await until('a replacement is started', () =>
      childrenOf(gateway.pid).find((pid) => !others.includes(pid)),
    )
    process.kill(replacement, 'SIGKILL')
    await until('another has taken its place', async () => {
      await scrapeOn()
      return listeningWorkers().length === WORKERS + 1
    })
    for (let more = 0; more < 10; more += 1) {
      expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
      await scrapeOn()
    }
    seen = await scrapeAnew()
    expect(numberIn(seen, 'trunkline_calls_total{agent="counting",outcome="done",reason=""}')).toBe(
      before + 10,
    )
    expect(numberIn(seen, 'trunkline_worker_deaths_total{cause="killed"}')).toBe(2)
    const deaths = logged('a worker died and will be replaced')
    expect(deaths).toEqual([
      expect.objectContaining({
        worker: { id: expect.any(Number), pid: killed?.pid, instance: killed?.instance },
        signal: 'SIGKILL',
        code: null,
        ranMs: expect.any(Number),
        restartMs: 1_000,
      }),
      expect.objectContaining({ worker: expect.objectContaining({ pid: replacement }), restartMs: 2_000 }),
    ])
    expect(logged('a worker was replaced')).toHaveLength(1)
    await until("the dead worker's calls are ended", async () => (await open()).length === 0)
  })

  test('the counts of a worker that ends by itself are kept to the last', async () => {
    const before = numberIn(
      await scrapeAnew(),
      'trunkline_http_requests_total{route="/healthz",method="GET",status="200"}',
    )
    const [, ...running] = listeningWorkers()
    const pings = Array.from({ length: 30 }, () =>
      fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } }),
    )
    expect((await Promise.all(pings)).every(({ ok }) => ok)).toBe(true)
    process.kill(running[0]?.pid ?? 0, 'SIGTERM')
    await until('another has taken its place', () => listeningWorkers().length === WORKERS + 2)
    const shown = await scrapeAnew()
    const asked = 'trunkline_http_requests_total{route="/healthz",method="GET",status="200"}'
    expect(numberIn(shown, asked)).toBe(before + 30)
    expect(numberIn(shown, 'trunkline_worker_deaths_total{cause="exited"}')).toBe(1)
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

  test('when the primary is killed, its workers finish their calls and end', async () => {
    await gateway.start()
    const pids = await until('all workers listen', () => {
      const workers = listeningWorkers().slice(-WORKERS)
      return new Set(workers.map(({ pid }) => pid)).size === WORKERS &&
        workers.every(({ pid }) => isRunning(pid))
        ? workers.map(({ pid }) => pid)
        : undefined
    })
    onTestFinished(() => {
      for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
    })
    platform.hold()
    const response = await api.chat(key.full_key, 'counting', { stream: true })
    expect(response.status).toBe(200)
    await gateway.kill()
    await until('only the worker with the call is left', () => pids.filter(isRunning).length === 1)
    platform.release()
    expect(await response.text()).toContain('[DONE]')
    await until('the last worker has ended', () => !pids.some(isRunning))
    expect(await open()).toEqual([])
    const [last] = await query<{ outcome: string }>(
      gateway.databaseUrl ?? '',
      'SELECT outcome FROM calls ORDER BY id DESC LIMIT 1',
    )
    expect(last?.outcome).toBe('done')
  })

  interface Line {
    readonly pid: number
    readonly instance: string
    readonly msg: string
  }

  const logged = (msg: string): Line[] =>
    gateway.output
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(`"msg":"${msg}"`))
      .map((line) => JSON.parse(line))

  /** The workers that have logged that they are listening, also those that have ended. */
  const listeningWorkers = () => logged('listening')

  /** The counters and histograms of a scrape. A scrape whose worker is killed meanwhile is repeated. */
  async function scrape(): Promise<Map<string, number>> {
    return countsIn(await metrics())
  }

  /** The same of now, since the metrics are rendered at most once a second. */
  async function scrapeAnew(): Promise<Map<string, number>> {
    const shown = await metrics()
    const later = await until('a later scrape', async () => {
      const text = await metrics()
      return text !== shown && text
    })
    return countsIn(later)
  }

  function metrics(): Promise<string> {
    return until('a scrape', () =>
      fetch(`${gateway.url}/metrics`).then(
        (response) => (response.ok ? response.text() : undefined),
        () => undefined,
      ),
    )
  }
})

/** The values of all counters and histograms; a gauge may have a name that ends in `_total`. */
function countsIn(text: string): Map<string, number> {
  const counting = new Set<string>()
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)/.exec(line) ?? []
    if (typed !== undefined && type !== 'gauge') counting.add(typed)
    const [, series = '', name = '', value] = /^(([a-z_]+)\S*) (\S+)$/.exec(line) ?? []
    if (counting.has(name.replace(/_(bucket|sum|count)$/, ''))) values.set(series, Number(value))
  }
  return values
}

function numberIn(values: ReadonlyMap<string, number>, series: string): number {
  return values.get(series) ?? 0
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
