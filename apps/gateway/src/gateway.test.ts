import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { setPrivateAddresses } from '#core/requests/input/public-host.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { createGateway, type Gateway } from './composition/gateway.ts'

let database: Database
let gateway: Gateway
let app: FastifyInstance
let key: string

beforeAll(async () => {
  database = await openScratchDatabase()
  const agents = { openai: { baseUrl: 'http://127.0.0.1:9', model: 'm' } }
  const config = parseConfig({ agents, privateAddresses: ['192.5.6.0/24'] }, {})
  const log = createLogger('silent')
  gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  app = await createServer(config, gateway, log)
  const { services, processTasks } = gateway
  await processTasks.firstStart.createFirstAdmin({ username: 'admin', password: 'correct horse' })
  const admin = await database.prisma.user.findFirstOrThrow()
  const made = await services.keys.create(
    { userId: admin.id, role: 'admin', via: { kind: 'token', tokenId: '', expiresAt: new Date() } },
    {
      name: 'k',
      description: '',
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
      permissions: ['chat'],
    },
  )
  key = made.fullKey
})
afterAll(async () => {
  setPrivateAddresses([])
  await gateway?.close()
  await app?.close()
  await database?.close()
})

const chat = {
  app_id: '',
  chat_id: '',
  stream: false,
  detail: false,
  query: 'q',
  conversation_id: '',
  files: [],
}
const ask = (url: string, payload: object) =>
  app.inject({ method: 'POST', url, payload, headers: { authorization: `Bearer ${key}`, agent: 'openai' } })

test('no call is admitted or counted before the start is complete, on either face', async () => {
  const both = () =>
    Promise.all([
      ask('/api/v1/chat', chat),
      ask('/api/v1/chat/completions', { model: 'openai', messages: [{ role: 'user', content: 'q' }] }),
    ])
  const counted = async () => (await database.sql.query('SELECT FROM calls')).length
  // No single part of the start is enough.
  for (const part of [async () => undefined, () => gateway.prepare()]) {
    await part()
    const [rest, openAi] = await both()
    for (const refused of [rest, openAi]) {
      expect(refused.statusCode).toBe(503)
      expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-should-retry': 'true' })
    }
    expect(rest.json()).toMatchObject({ reason: 'unavailable' })
    expect(openAi.json()).toMatchObject({ error: { code: 'unavailable' } })
    expect(await counted()).toBe(0)
    // A start that fails here, because its port is taken for example, leaves nothing that looks like a lost process.
    expect(await database.sql.query('SELECT FROM instances')).toHaveLength(0)
  }
  // Others may serve behind the same address, so calls wait for the end of a start that is almost complete.
  const { promise: completed, resolve } = Promise.withResolvers<void>()
  gateway.holdRequestsFor(completed)
  const answers = both()
  await gateway.open()
  resolve()
  for (const answer of await answers) expect(answer.statusCode).toBe(502)
  expect(await counted()).toBe(2)
})

test('/readyz queries the database at most once a second, however often it is called', async () => {
  const queries = vi.spyOn(database, 'pendingMigrations')
  const probes = await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')))
  expect(new Set(probes.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  expect(queries.mock.calls.length).toBeLessThanOrEqual(1)
})

test('a file at an address that the configuration calls private is refused', async () => {
  const response = await ask('/api/v1/chat', { ...chat, files: ['http://192.5.6.7/a.pdf'] })
  expect(response.json()).toMatchObject({
    code: 400,
    detail: 'body.files[0]: expected a publicly reachable URL.',
  })
})

test('a start that waits for its database does not blame the storage, whose folder does not exist yet', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-'))
  const agents = { openai: { baseUrl: 'http://127.0.0.1:9', model: 'm' } }
  const away = await openDatabase({ kind: 'server', url: 'postgres://127.0.0.1:9/none' })
  const waiting = await createGateway({
    config: parseConfig({ agents }, { DATA_DIR: dataDir }),
    database: away,
    runtime: systemRuntime,
    log: createLogger('silent'),
  })
  expect(await waiting.health.dependencies()).toMatchObject({
    database: { ok: false, detail: 'the start is not complete' },
    storage: { ok: true },
  })
  await away.close()
  await rm(dataDir, { recursive: true })
})
