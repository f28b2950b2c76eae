import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { writeLoad } from '#core/agents/deployments/written-load.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createProcesses, type Processes } from './process-list.ts'

const LEASE_MS = 15_000
const admin: Principal = {
  userId: v7(),
  role: 'admin',
  via: { kind: 'token', tokenId: v7(), expiresAt: new Date() },
}

let database: Database
let processes: Processes

beforeAll(async () => {
  database = await openScratchDatabase()
  processes = createProcesses({ sql: database.sql, leaseMs: LEASE_MS })
})
afterAll(() => database.close())
beforeEach(() => database.sql.query('TRUNCATE instances'))

/** Inserts a process; times are seconds before now. */
async function insert(seconds: {
  started: number
  lease: number
  stopped?: number
  load?: string | null
}): Promise<string> {
  const id = v7()
  await database.sql.query(
    `INSERT INTO instances (id, started_at, lease_until, stopped_at, build, host, pid, version, load)
     VALUES ($1, now() - $2 * interval '1 second', now() - $3 * interval '1 second', now() - $4 * interval '1 second',
       'a_build', 'a-host', 7, '1.0.0', $5::jsonb)`,
    [id, seconds.started, seconds.lease, seconds.stopped ?? null, seconds.load ?? null],
  )
  return id
}

const statesOf = async (state?: string) =>
  (await processes.list(admin, { state })).map(({ id, state: seen }) => [id, seen])

test('live processes come first and then those that ended, the last started first, each with its state', async () => {
  const stopped = await insert({ started: 10, lease: -10, stopped: 5 })
  const lost = await insert({ started: 100, lease: 50 })
  const older = await insert({ started: 200, lease: -10 })
  const newer = await insert({ started: 20, lease: -10 })
  const live = [newer, older].map((id) => [id, 'live'])
  const ended = [
    [stopped, 'stopped'],
    [lost, 'lost'],
  ]
  expect(await statesOf()).toEqual([...live, ...ended])
  expect(await statesOf('live')).toEqual(live)
  expect(await statesOf('ended')).toEqual(ended)
})

test('a process is last seen at its last heartbeat, at its end, and not before its start', async () => {
  await insert({ started: 100, lease: -10 })
  await insert({ started: 110, lease: -10, stopped: 30 })
  await insert({ started: 120, lease: 200 })
  const [live, stopped, lost] = await processes.list(admin)
  const secondsAgo = (at: Date | undefined) => Math.round((Date.now() - (at?.getTime() ?? 0)) / 1_000 / 5) * 5
  expect(secondsAgo(live?.lastSeenAt)).toBe(5)
  expect(secondsAgo(stopped?.lastSeenAt)).toBe(30)
  expect(stopped?.lastSeenAt).toEqual(stopped?.stoppedAt)
  expect(lost?.lastSeenAt).toEqual(lost?.startedAt)
})

test('a live process tells its calls in progress and the breakers that are not closed', async () => {
  const open = { id: 'eu', breaker: 'open', inFlight: 0, openSince: 1_000, reason: 'agent_timeout' } as const
  const load = writeLoad([
    {
      agent: 'dify',
      inFlight: 3,
      waiting: 1,
      deployments: [{ id: 'main', breaker: 'closed', inFlight: 3 }, open],
    },
    {
      agent: 'coze',
      inFlight: 2,
      waiting: 0,
      deployments: [{ id: 'main', breaker: 'half_open', inFlight: 2 }],
    },
  ])
  await insert({ started: 1, lease: -10, load })
  await insert({ started: 2, lease: -10 })
  await insert({ started: 3, lease: 10, load })
  const [live, older, lost] = await processes.list(admin)
  expect(live).toMatchObject({ host: 'a-host', pid: 7, version: '1.0.0', build: 'a_build', callsInFlight: 5 })
  expect(live?.breakers).toEqual([
    {
      agent: 'dify',
      deployment: 'eu',
      breaker: 'open',
      openSince: new Date(1_000),
      reason: 'agent_timeout',
    },
    expect.objectContaining({ agent: 'coze', deployment: 'main', breaker: 'half_open', openSince: null }),
  ])
  // One of an earlier version says nothing, and what a lost one said is over.
  for (const process of [older, lost]) expect(process).toMatchObject({ callsInFlight: null, breakers: [] })
})

test('a live process tells its port and what is wrong with it, and what this version does not know is left out', async () => {
  const concerns = [
    { concern: 'ledger_behind', since: 1_000, count: 3, blockedBy: 'process 17 (psql)' },
    { concern: 'disk_full', since: 2_000 },
    { concern: 'of another version', since: 3_000 },
  ]
  for (const lease of [-10, 10]) {
    const id = await insert({ started: 1, lease })
    const told = JSON.stringify(concerns)
    await database.sql.query('UPDATE instances SET port = 3000, concerns = $2::jsonb WHERE id = $1', [
      id,
      told,
    ])
  }
  const [live, lost] = await processes.list(admin)
  const none = { cause: null, count: null, blockedBy: null }
  expect(live).toMatchObject({ port: 3_000 })
  expect(live?.concerns).toEqual([
    { ...none, ...concerns[0], since: new Date(1_000) },
    { ...none, ...concerns[1], since: new Date(2_000) },
  ])
  expect(lost).toMatchObject({ state: 'lost', port: 3_000, concerns: [] })
})

test('at most a thousand processes are listed, and an unknown state is refused', async () => {
  await database.sql.query(
    `INSERT INTO instances (id, started_at, lease_until)
     SELECT gen_random_uuid(), now(), now() - interval '1 day' FROM generate_series(1, 1001)`,
  )
  const live = await insert({ started: 1_000_000, lease: -10 })
  const listed = await processes.list(admin)
  expect([listed.length, listed[0]?.id]).toEqual([1_000, live])
  await expect(processes.list(admin, { state: 'dead' })).rejects.toMatchObject({ field: ['state'] })
  await expect(processes.list({ ...admin, role: 'premium' })).rejects.toMatchObject({ reason: 'role_denied' })
})
