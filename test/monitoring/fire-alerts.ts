/*
 * Makes every alert fire and clear once, by a fault in real gateways under a real Prometheus. `for` and the windows of the rules
 * are shortened, thresholds are not. It takes some ten minutes and needs root, for a small disk, and all services of the tests.
 *
 *   pnpm alerts [--only TrunklineDiskFull,TrunklineWorkerDied]
 */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Api, apiOf } from '../support/api.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayOptions, prepareGateway, startGateway } from '../support/gateway.ts'
import { startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { alertRules, rulesText } from '../support/operator-pages.ts'
import { startPlatform } from '../support/platform.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { query } from '../support/query.ts'
import { servicesToTest } from '../support/services.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const WINDOW_SECONDS = 10
const MIB = 1024 * 1024
/** The result of the check of the ledger is read once a minute. */
const FIRES_WITHIN_MS = 150_000

/** A fault, which lasts until what it returns is called. */
type Fault = () => Promise<() => Promise<unknown>>

const { postgres = '', redis: redisUrl = '' } = servicesToTest({ ...process.env, REQUIRE_SERVICES: '1' })
process.env.E2E_DATABASE_URL = postgres

/** Does something again and again until the result is called, which resolves when the last one has ended. */
function repeatedly(work: () => Promise<unknown>, everyMs = 100): () => Promise<void> {
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      await work().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  })()
  return () => {
    isOver = true
    return running
  }
}

/** Undoes what was set up, in the opposite order. */
const undo: (() => Promise<unknown>)[] = []

async function undoAll(): Promise<void> {
  for (const each of undo.splice(0).reverse()) await each().catch((error: unknown) => console.error(error))
}

// A disk would stay mounted, and gateways would go on.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void undoAll().finally(() => process.exit(1)))

async function setUp() {
  const ports = await Promise.all([0, 1, 2].map(freePort))
  const env = (at: number) => ({ OPS_PORT: String(ports[at]), REDIS_URL: redis.url })
  const redis = await startTcpProxy(redisUrl)
  undo.push(() => redis.close())
  const platform = await startPlatform()
  undo.push(() => platform.close())
  const path = await startTcpProxy(platform.baseUrl)
  undo.push(() => path.close())

  const first = await startGatewayWithSandbox({
    env: { ...env(0), WORKERS: '2' },
    isFirstStart: true,
    settings: { limits: { chat: { points: 1_000_000 }, login: { points: 1_000 } } },
    agents: ({ openai }) => ({
      counting: { platform: 'openai', baseUrl: path.url, apiKey: 'none', model: 'counting' },
      expired: { ...openai, apiKey: 'expired' },
    }),
  })
  undo.push(() => first.remove())
  const url = first.gateway.databaseUrl ?? ''
  const database = await startTcpProxy(url)
  undo.push(() => database.close())
  const config = readFileSync(first.gateway.configFile, 'utf8')
  const shared: GatewayOptions = { config, databaseUrl: database.url }
  const second = await startGateway({ ...shared, env: env(1) })
  undo.push(() => second.remove())

  delete process.env.E2E_DATABASE_URL
  const embedded = await prepareGateway({ config, env: env(2), isFirstStart: true, isOnDisk: true })
  process.env.E2E_DATABASE_URL = postgres
  await mkdir(embedded.dataDir, { recursive: true })
  const disk = await mountSmallDisk(embedded.dataDir, 600 * MIB)
  undo.push(async () => {
    await embedded.kill()
    disk.unmount()
    await embedded.remove()
  })
  await embedded.start()
  const apiOfEmbedded = apiOf(embedded)
  const { full_key: keyOfEmbedded } = await apiOfEmbedded.createKey(await apiOfEmbedded.login())

  const rules = rulesText()
    .replaceAll(/for: \d+m/g, 'for: 2s')
    .replaceAll(/\[\d+m\]/g, `[${WINDOW_SECONDS}s]`)
  const names = ['first', 'second', 'embedded']
  const targets = ports.map((port, at) => ({ host: `127.0.0.1:${port}`, name: names[at] ?? '' }))
  const prometheus = await startPrometheus(targets, rules)
  undo.push(() => prometheus.stop())
  return {
    first,
    second,
    embedded: { api: apiOfEmbedded, by: keyOfEmbedded },
    disk,
    database,
    redis,
    platform,
    path,
    prometheus,
    url,
  }
}

type System = Awaited<ReturnType<typeof setUp>>

/** Holds a lock on a table until the result is called. */
async function lock(url: string, table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN')
  await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return async () => {
    await client.query('ROLLBACK')
    await client.end()
  }
}

function faultsOf(system: System): Readonly<Record<string, Fault>> {
  const { first, second, embedded, disk, database, redis, platform, path, url } = system
  const { token, key } = first
  const apis = { first: first.api, second: apiOf(second) }
  const chat = async (agent: string, more: object = {}, { api = apis.first, by = key }: Caller = {}) =>
    (await api.chat(by, agent, { ...more })).text()
  const fail = () => chat('openai', { query: 'sandbox:error=server Hello' })

  /** A call whose platform answers when the result is called. */
  async function heldCall(): Promise<() => Promise<string>> {
    platform.hold()
    const arrived = platform.receives(platform.received.length + 1)
    const call = chat('counting', {}, { api: apis.second })
    await arrived
    return () => {
      platform.release()
      return call
    }
  }

  /** Calls that are refused until the result is called. */
  async function withoutDatabase(): Promise<() => Promise<void>> {
    await database.cut()
    const stop = repeatedly(() => chat('counting', {}, { api: apis.second }))
    return async () => {
      await database.restore()
      await stop()
    }
  }

  return {
    async TrunklineGatewayDown() {
      await second.kill()
      return () => second.start()
    },
    async TrunklineAgentFailing() {
      let calls = 0
      const stop = repeatedly(() => {
        calls += 1
        return calls % 4 === 0 ? fail() : chat('openai')
      })
      return stop
    },
    async TrunklineAgentSlow() {
      await chat('counting')
      path.stall()
      const calls = Promise.all(Array.from({ length: 5 }, () => chat('counting')))
      await new Promise((resolve) => setTimeout(resolve, 21_000))
      await path.restore()
      await calls
      return async () => undefined
    },
    async TrunklineOwnShareHigh() {
      return repeatedly(async () => {
        const unlock = await lock(url, 'api_keys')
        const calls = Promise.all([1, 2, 3].map(() => chat('counting')))
        await new Promise((resolve) => setTimeout(resolve, 800))
        await unlock()
        await calls
      })
    },
    async TrunklineDeploymentOut() {
      await Promise.all(Array.from({ length: 30 }, fail))
      return () =>
        until('the breakers are closed', async () => {
          await Promise.all(Array.from({ length: 10 }, () => chat('openai')))
          const open = await system.prometheus.query('trunkline_breaker_state > 0')
          return open.length === 0
        })
    },
    async TrunklineAgentOut() {
      await path.cut()
      const callers: Caller[] = [{}, { api: apis.second }, embedded]
      const stop = repeatedly(() => Promise.all(callers.map((caller) => chat('counting', {}, caller))))
      return async () => {
        await path.restore()
        await until('the breakers are closed', async () => {
          const open = await system.prometheus.query('trunkline_breaker_state > 0')
          return open.length === 0
        })
        await stop()
      }
    },
    async TrunklineCredentialsFailing() {
      await chat('expired')
      return async () => undefined
    },
    async TrunklineUnavailable() {
      return withoutDatabase()
    },
    async TrunklineThrottled() {
      const { full_key: by } = await first.api.createKey(token, { limits: { chat_per_minute: 1 } })
      return repeatedly(() => chat('counting', {}, { by }))
    },
    async TrunklineQuotaUsedUp() {
      const name = `quota-${Date.now()}`
      const user = await first.api.createUser(token, name, { role: 'premium', max_api_calls: 0 })
      const ofUser = await first.api.login(user.username, user.password)
      const { full_key: by } = await first.api.createKey(ofUser)
      return repeatedly(() => chat('counting', {}, { by }))
    },
    async TrunklineLedgerBehind() {
      const answer = await heldCall()
      const unlock = await lock(url, 'calls')
      await answer()
      return unlock
    },
    async TrunklineLedgerDrift() {
      const change = async (by: number) => {
        await query(url, 'UPDATE api_keys SET total_calls = total_calls + $1', [by])
        await query(url, "UPDATE maintenance SET ended_at = now() - interval '1 hour'")
      }
      await change(1)
      return () => change(-1)
    },
    async TrunklineDatabasePoolFull() {
      const unlock = await lock(url, 'users')
      const list = () => apis.second.call('GET', '/api/v1/users', { token })
      const stop = Array.from({ length: 30 }, () => repeatedly(list))
      return async () => {
        await unlock()
        await Promise.all(stop.map((each) => each()))
      }
    },
    async TrunklineDiskFull() {
      disk.fill(100 * MIB)
      return () => disk.free()
    },
    async TrunklineLimitStoreDown() {
      await redis.cut()
      return () => redis.restore()
    },
    async TrunklineWorkerDied() {
      const { pid } = first.gateway
      const [worker] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
      process.kill(worker ?? 0, 'SIGKILL')
      return async () => undefined
    },
    async TrunklineConfigurationDiffers() {
      const wanted = (fingerprint: string) =>
        query(
          url,
          "UPDATE settings SET value = jsonb_set(value::jsonb, '{fingerprint}', to_jsonb($1::text))::text WHERE name = 'configuration_wanted'",
          [fingerprint],
        )
      const read =
        "SELECT value::jsonb ->> 'fingerprint' AS fingerprint FROM settings WHERE name = 'configuration_wanted'"
      const [before] = await query<{ fingerprint: string }>(url, read)
      await wanted('another')
      return () => wanted(before?.fingerprint ?? '')
    },
    async TrunklineRecordsLost() {
      const answer = await heldCall()
      await query(url, 'ALTER TABLE calls RENAME TO calls_away')
      await answer()
      return () => query(url, 'ALTER TABLE calls_away RENAME TO calls')
    },
    async TrunklineRefusalsLost() {
      return withoutDatabase()
    },
  }
}

interface Caller {
  readonly api?: Api
  readonly by?: string
}

async function fireAll(only: readonly string[]): Promise<boolean> {
  const system = await setUp()
  const { prometheus } = system
  await until('all gateways are scraped', async () => (await prometheus.query('up == 1')).length === 3)
  const faults = faultsOf(system)
  const firing = async (name: string) =>
    (await prometheus.alerts()).filter(({ labels, state }) => labels.alertname === name && state === 'firing')
  const since = (startedMs: number) => `${((performance.now() - startedMs) / 1000).toFixed(0)} s`
  let isComplete = true
  for (const { alert } of alertRules().filter((each) => only.length === 0 || only.includes(each.alert))) {
    const fault = faults[alert]
    try {
      if (fault === undefined) throw new Error('there is no fault for it')
      await until(`${alert} is quiet`, async () => (await firing(alert)).length === 0)
      let startedMs = performance.now()
      const clear = await fault()
      let summary: string | undefined
      try {
        const fired = async () => {
          const [found] = await firing(alert)
          return found
        }
        summary = (await until(`${alert} fires`, fired, FIRES_WITHIN_MS)).annotations.summary
        process.stdout.write(`${alert}: fired after ${since(startedMs)}: ${summary}\n`)
      } finally {
        startedMs = performance.now()
        await clear()
      }
      await until(`${alert} clears`, async () => (await firing(alert)).length === 0, FIRES_WITHIN_MS)
      process.stdout.write(`${alert}: cleared after ${since(startedMs)}\n`)
    } catch (error) {
      isComplete = false
      process.stdout.write(`${alert}: ${error instanceof Error ? error.message : error}\n`)
    }
  }
  return isComplete
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
try {
  const isComplete = await fireAll(values.only?.split(',') ?? [])
  if (!isComplete) process.exitCode = 1
} finally {
  await undoAll()
}
