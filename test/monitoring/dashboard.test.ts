import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { dashboardPanels } from '../support/operator-pages.ts'
import { hasPrometheus, type Prometheus, promtool, startPrometheus } from '../support/prometheus.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { uploadFile } from '../support/uploads.ts'

// A process, because a real Prometheus scrapes two gateways, and answers what the panels ask.

const redisUrl = process.env.E2E_REDIS_URL ?? ''
const hasServices = process.env.E2E_DATABASE_URL !== undefined && redisUrl !== ''

/** Panels that are rightly empty here, with the reason. */
const EMPTY: Readonly<Record<string, string>> = {
  'Free in DATA_DIR (embedded database)': 'the gateways of this test have a database server',
  'Breakers (0 closed, 1 half open, 2 open)': 'all are closed, and beside the worst only open ones are shown',
  'Statements without a connection, by the kind of work': 'only what waits or was refused is shown',
  'Equations that do not hold': 'absent before the first check, which comes after a minute',
  'Since the last check': 'absent before the first check, which comes after a minute',
}

const QUERIES = dashboardPanels().flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr.replaceAll('$__rate_interval', '20s').replaceAll(/"\$\w+"/g, '".*"'),
  })),
)

test('the queries have no variable that Grafana fills in and this test does not', () => {
  expect(QUERIES.filter(({ expr }) => expr.includes('$'))).toEqual([])
})

describe.skipIf(!hasServices || !hasPrometheus())('two gateways that a real Prometheus scrapes', () => {
  let one: GatewayWithSandbox
  let other: TestGateway
  let database: TcpProxy
  let prometheus: Prometheus
  let ops: readonly string[]

  beforeAll(async () => {
    ops = await Promise.all([0, 1].map(async () => `127.0.0.1:${await freePort()}`))
    const env = (at: number) => ({ OPS_PORT: ops[at]?.split(':')[1] ?? '', REDIS_URL: redisUrl })
    // It waits five seconds before its first scrape, in which the gateways start.
    prometheus = await startPrometheus(ops.map((host) => ({ host })))
    one = await startGatewayWithSandbox({
      env: { ...env(0), WORKERS: '2' },
      agents: ({ openai }) => ({
        narrow: { ...openai, concurrency: { max: 1, queue: 1, waitMs: 10_000 } },
        expired: { ...openai, apiKey: 'expired' },
      }),
    })
    database = await startTcpProxy(one.gateway.databaseUrl ?? '')
    const config = await readFile(one.gateway.configFile, 'utf8')
    other = await startGateway({ config, databaseUrl: database.url, env: env(1) })
    await until('Prometheus has scraped both', async () => (await prometheus.query('up == 1')).length === 2)
    await provoke()
  })
  afterAll(async () => {
    await prometheus?.stop()
    await other?.remove()
    await database?.close()
    await one?.remove()
  })

  /** What an operator would ask about: a bit of everything that can go well or wrong. */
  async function provoke(): Promise<void> {
    const { api, key, token } = one
    const chat = async (agent: string, more: object = {}, by = key) =>
      (await api.chat(by, agent, { ...more })).text()
    await chat('openai')
    await chat('openai', { stream: true })
    await chat('openai', { query: 'sandbox:error=server Hello' })
    await chat('openai', { query: 'sandbox:error=quota Hello' })
    await chat('expired')
    await Promise.all([1, 2, 3, 4].map(() => chat('narrow')))
    const { full_key: slow } = await api.createKey(token, { limits: { chat_per_minute: 1 } })
    await chat('openai', {}, slow)
    await chat('openai', {}, slow)
    const { full_key: uploads } = await api.createKey(token, { permissions: ['upload'] })
    await uploadFile(one.gateway.url, uploads, 'hello')
    const { username, password } = await api.createUser(token, 'used-up', {
      role: 'premium',
      max_api_calls: 1,
    })
    const { full_key: usedUp } = await api.createKey(await api.login(username, password))
    await chat('openai', {}, usedUp)
    await chat('openai', {}, usedUp)
    await chat('openai', {}, 'gk-unknown')
    await fetch(`${one.gateway.url}/api/v1/agents`, { headers: { 'trunkline-client': 'js/0.1.0' } })

    const through = apiOf(other)
    await (await through.chat(key, 'openai')).text()
    await database.cut()
    await (await through.chat(key, 'openai')).text()
    await database.restore()
  }

  test('every panel shows something', async () => {
    let empty: readonly { title: string; expr: string }[] = QUERIES
    const stillEmpty = async () => {
      const answers = await Promise.all(
        empty.map(async (each) => [each, await prometheus.query(each.expr)] as const),
      )
      empty = answers.filter(([, samples]) => samples.length === 0).map(([each]) => each)
      return empty.filter(({ title }) => EMPTY[title] === undefined)
    }
    await until('every query has samples', async () => (await stillEmpty()).length === 0, 20_000).catch(
      () => undefined,
    )
    expect(await stillEmpty()).toEqual([])
    expect(QUERIES.map(({ title }) => title)).toEqual(expect.arrayContaining(Object.keys(EMPTY)))
  })

  test('replicas can be told apart', async () => {
    expect((await prometheus.query('count by (instance) (trunkline_build_info)')).length).toBe(2)
    // The database was away for the second one alone.
    const failing = () =>
      prometheus.query('sum by (instance) (trunkline_refusals_total{reason="unavailable"}) > 0')
    await until('Prometheus has seen the refusal', async () => (await failing()).length > 0)
    expect((await failing()).map(({ metric }) => metric.instance)).toEqual([ops[1]])
  })

  test('promtool finds nothing wrong with the whole of /metrics', async () => {
    for (const host of ops) {
      const text = await (await fetch(`http://${host}/metrics`)).text()
      expect(text).toContain('trunkline_calls_total')
      expect(await promtool(['check', 'metrics'], { input: text })).toEqual({ code: 0, output: '' })
    }
  })
})
