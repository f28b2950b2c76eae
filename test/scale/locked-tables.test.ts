import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because two gateways must outlive each other's locks with the connections that they have.

const server = process.env.E2E_DATABASE_URL ?? ''

/** How long a table is locked at least; by default as long as it takes to see what happens meanwhile. */
const LOCKED_MS = process.env.SOAK ? 30_000 : 0
const LEASE_MS = 1_500
/** What an admission reads and writes. */
const NEEDED_BY_ADMISSIONS = ['api_keys', 'calls', 'conversation_generations', 'pauses', 'users']
const MANAGEMENT = [
  '/api/v1/users',
  '/api/v1/api-keys',
  '/api/v1/usage',
  '/api/v1/calls',
  '/api/v1/audit',
  '/api/v1/refusals',
  '/api/v1/processes',
  '/api/v1/agents',
]

let database: Awaited<ReturnType<typeof createScratchDatabase>>
let platform: Platform
let gateways: TestGateway[]
let api: Api
let token: string
let keys: string[]
let locker: pg.Client
/** Calls that run in both processes as long as tables are locked. */
let living: Promise<number[]>

beforeAll(async () => {
  if (server === '') return
  database = await createScratchDatabase(server)
  platform = await startPlatform()
  const config = configOf(platform, { instance: { leaseMs: LEASE_MS } })
  gateways = []
  for (let n = 0; n < 2; n += 1) gateways.push(await startGateway({ config, databaseUrl: database.url }))
  const [first] = gateways
  if (first === undefined) throw new Error('two gateways')
  api = apiOf(first)
  token = await api.login()
  const owners = [await api.createUser(token, 'tenant-1'), await api.createUser(token, 'tenant-2')]
  const created = await Promise.all(owners.map(({ id }) => api.createKey(token, { owner_id: id })))
  keys = created.map(({ full_key }) => full_key)
  locker = new pg.Client({ connectionString: database.url })
  await locker.connect()

  platform.hold()
  const reached = platform.received.length
  living = chats()
  await platform.receives(reached + 4)
  platform.letThrough()
}, 180_000)
afterAll(async () => {
  await locker?.end()
  for (const gateway of gateways ?? []) await gateway.remove()
  await platform?.close()
  await database?.drop()
})

const leases = async () =>
  (await locker.query<{ until: Date; now: Date }>(LEASES)).rows.map(({ until: end, now }) => +end - +now)

const LEASES = `
SELECT lease_until AS until, clock_timestamp() AS now FROM instances WHERE stopped_at IS NULL ORDER BY id`

/** Requests that fill every lane that waits for the table; they are answered when it is free again, at the latest. */
function manage(): Promise<number[]> {
  const reads = MANAGEMENT.flatMap((path) => [path, path, path]).map((path) =>
    api.call('GET', path, { token }),
  )
  const { admin } = gateways[0] ?? {}
  const login = () => api.call('POST', '/api/v1/login', { body: { ...admin } })
  return Promise.all([...reads, login(), login(), login()].map(async (answer) => (await answer).status))
}

async function tables(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    database.url,
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  )
  return rows.map(({ name }) => name)
}

describe.skipIf(server === '')('on PostgreSQL', () => {
  test('whichever table is locked, calls that need nothing of it are admitted, and nothing that lives is settled', {
    timeout: 240_000 + 30 * LOCKED_MS,
  }, async () => {
    const names = await tables()
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) {
      const managing = await whileLocked(name)
      for (const status of await managing) expect([200, 401, 429, 503], name).toContain(status)
      await until(`chats are answered after the lock on ${name}`, async () =>
        (await chats()).every((status) => status === 200),
      )
    }
    platform.release()
    expect(await living).toEqual([200, 200, 200, 200])
    await until('every call is settled', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
    expect(await query(database.url, "SELECT FROM calls WHERE outcome NOT IN ('done', 'rejected')")).toEqual(
      [],
    )
    // A row remains even if the late settlement of a living process has taken its calls out again.
    expect(await query(database.url, "SELECT FROM rollups WHERE outcome = 'interrupted'")).toEqual([])
    for (const { output } of gateways)
      expect(output).not.toContain('the open calls of dead instances were settled')
  })
})

/** A chat of each tenant with each process. They have no conversation, whose tables they would need. */
function chats(): Promise<number[]> {
  return Promise.all(gateways.flatMap(({ url }) => keys.map((key) => chat(url, key))))
}

async function chat(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'counting', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.text()
  return response.status
}

async function whileLocked(name: string): Promise<Promise<number[]>> {
  const isNeeded = NEEDED_BY_ADMISSIONS.includes(name)
  const endMs = performance.now() + LOCKED_MS
  await locker.query(`BEGIN; LOCK TABLE "${name}" IN ACCESS EXCLUSIVE MODE`)
  try {
    const managing = manage()
    do {
      const statuses = await chats()
      if (isNeeded) for (const status of statuses) expect([200, 503]).toContain(status)
      else expect(statuses, name).toEqual([200, 200, 200, 200])
    } while (performance.now() < endMs)
    // The leases are not renewed, and expire for longer than a dead process is given: so no process is taken for dead.
    if (name === 'instances')
      await until('the leases have expired for another one', async () =>
        (await leases()).every((leftMs) => leftMs < -LEASE_MS),
      )
    else
      await until(`the leases are renewed beside the lock on ${name}`, async () =>
        (await leases()).every((leftMs) => leftMs > (LEASE_MS * 2) / 3),
      )
    return managing
  } finally {
    await locker.query('ROLLBACK')
  }
}
