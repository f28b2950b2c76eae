import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because the database hangs below a whole gateway, whose answer must come in time all the same.

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('a database that hangs while the place of a conversation is looked up', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let proxy: TcpProxy
  let sandbox: Sandbox
  let gateway: TestGateway
  let api: Api
  let token: string
  let key: string

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    proxy = await startTcpProxy(database.url)
    sandbox = await startSandbox({ delayMs: 0 })
    const { baseUrl, apiKey } = sandbox.agents.dify
    const second = await sandbox.startSecond('dify')
    const deployments = [{ id: 'main' }, { id: 'us', baseUrl: second.baseUrl }]
    const concurrency = { max: 3, queue: 0, waitMs: 1_000 }
    const dify = { platform: 'dify', baseUrl, apiKey, deployments, concurrency }
    gateway = await startGateway({ config: JSON.stringify({ agents: { dify } }), databaseUrl: proxy.url })
    api = apiOf(gateway)
    token = await api.login()
    key = (await api.createKey(token)).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await sandbox?.close()
    await proxy?.close()
    await database?.drop()
  })

  const ask = (conversation: string) => api.chat(key, 'dify', { app_id: '', chat_id: conversation })

  test('is told long before a read gives up, and the slots are free afterwards', async () => {
    expect((await ask('a')).status).toBe(200)
    proxy.stall()
    // A read may wait as long as the slowest report.
    let isRead = false
    const read = api.call('GET', '/api/v1/users/me', { token }).finally(() => {
      isRead = true
    })
    const refused = await Promise.all(Array.from({ length: 5 }, (_, call) => ask(`${call}`)))
    expect(isRead).toBe(false)
    for (const response of refused) {
      expect(await response.json()).toMatchObject({ code: 503, reason: 'unavailable' })
      expect(response.headers.get('retry-after')).not.toBeNull()
    }
    expect((await read).status).toBe(503)
    await proxy.restore()
    await until('calls are served', async () => (await ask('a')).status === 200)
    // As many at once as there are slots.
    const served = await Promise.all(['x', 'y', 'z'].map(ask))
    expect(served.map(({ status }) => status)).toEqual([200, 200, 200])
  }, 60_000)
})
