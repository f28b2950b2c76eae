import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { query } from '../support/query.ts'

// A process, because each process has breakers of its own, and an administrator sees those of all.

const server = process.env.E2E_DATABASE_URL ?? ''

/** So long that no heartbeat comes during the test, which writes what a gateway would have reported at its last one. */
const LEASE_MS = 600_000

describe.skipIf(server === '')('two gateways on one database', () => {
  const undo: (() => unknown)[] = []
  let platform: Server
  let databaseUrl: string
  let gateways: readonly TestGateway[]
  let apis: readonly Api[]
  let token: string

  beforeAll(async () => {
    platform = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"object":"list","data":[]}')
    }).listen(0, '127.0.0.1')
    undo.push(() => platform.close())
    await once(platform, 'listening')
    const { port } = platform.address() as AddressInfo
    const database = await createScratchDatabase(server)
    undo.push(database.drop)
    databaseUrl = database.url
    const agent = {
      platform: 'openai',
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: 'sk-of-agent',
      model: 'm',
    }
    const config = JSON.stringify({ agents: { vllm: agent }, instance: { leaseMs: LEASE_MS } })
    const start = async () => {
      const gateway = await startGateway({ config, databaseUrl: database.url })
      undo.push(gateway.remove)
      return gateway
    }
    gateways = [await start(), await start()]
    apis = gateways.map((gateway) => apiOf(gateway))
    token = (await apis[0]?.login()) ?? ''
  })
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
  })

  /** What this gateway reports to the others. */
  async function tell(gateway: TestGateway | undefined, breaker: string, inFlight: number): Promise<void> {
    const deployments = [
      { id: 'main', breaker, inFlight, openSince: 1_764_000_000_000, reason: 'agent_timeout' },
    ]
    await query(databaseUrl, 'UPDATE instances SET load = $1::jsonb WHERE pid = $2', [
      JSON.stringify([{ agent: 'vllm', inFlight, waiting: 0, deployments }]),
      gateway?.pid,
    ])
  }

  test('an administrator sees the sum and each process, from each gateway and from the command line', async () => {
    const [one, other] = gateways
    await tell(other, 'open', 3)
    const { status, body } = await (apis[0] as Api).call('GET', '/api/v1/agents/vllm/deployments', { token })
    expect(status).toBe(200)
    const process = {
      instance_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      host: expect.any(String),
      version: expect.any(String),
    }
    const closed = { ...process, breaker: 'closed', calls_in_flight: 0, open_since: null, reason: null }
    const open = {
      ...process,
      ...{
        breaker: 'open',
        calls_in_flight: 3,
        open_since: '2025-11-24T16:00:00.000Z',
        reason: 'agent_timeout',
      },
    }
    const deployment = {
      ...{ id: 'main', weight: 1, priority: 0, state: 'main', disabled: false },
      ...{ status: 'available', status_since: null, status_reason: null, probe_ms: expect.any(Number) },
    }
    const seen = {
      ...deployment,
      ...{ breaker: 'open', calls_in_flight: 3 },
      processes: [
        { ...closed, pid: one?.pid },
        { ...open, pid: other?.pid },
      ],
    }
    expect(body.data).toEqual({ items: [seen], next_cursor: null })
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|sk-of-agent/)

    // What the other gateway knows of itself is newer than its last report.
    const fromOther = await (apis[1] as Api).call('GET', '/api/v1/agents/vllm/deployments', { token })
    expect(fromOther.body.data.items).toMatchObject([
      { breaker: 'closed', calls_in_flight: 0, processes: [{ pid: other?.pid }, { pid: one?.pid }] },
    ])

    const table = await (one as TestGateway).trunkline('agents')
    expect(table.output).toMatch(/^AGENT +STATUS +DEPLOYMENT .*BREAKER +CALLS$/m)
    expect(table.output).toMatch(/^vllm +degraded +main +1 +0 +main +available +\d+ +open in 1 of 2 +3$/m)
    const { output } = await (one as TestGateway).trunkline('agents', '--json')
    expect(JSON.parse(output)).toEqual([
      { id: 'vllm', name: 'Vllm', platform: 'openai', status: 'degraded', deployments: [seen] },
    ])
    expect(table.output + output).not.toMatch(/127\.0\.0\.1|sk-of-agent/)
  })

  test('clients learn that the agent is degraded, and nothing of its deployments', async () => {
    const { full_key: key } = await (apis[0] as Api).createKey(token)
    const { body } = await (apis[0] as Api).call('GET', '/api/v1/agents', { token: key })
    expect(body.data.items).toMatchObject([{ id: 'vllm', status: 'degraded' }])
    expect(JSON.stringify(body)).not.toMatch(/main|breaker|deployment/)
    const refused = await (apis[0] as Api).call('GET', '/api/v1/agents/vllm/deployments', { token: key })
    expect(refused).toMatchObject({ status: 403, body: { reason: 'permission_denied' } })
    const { username, password } = await (apis[0] as Api).createUser(token, 'ada')
    const asUser = await (apis[0] as Api).login(username, password)
    const denied = await (apis[0] as Api).call('GET', '/api/v1/agents/vllm/deployments', { token: asUser })
    expect(denied).toMatchObject({ status: 403, body: { reason: 'role_denied' } })
    const missing = await (apis[0] as Api).call('GET', '/api/v1/agents/none/deployments', { token })
    expect(missing).toMatchObject({ status: 404, body: { reason: 'object_not_found' } })
  })
})
