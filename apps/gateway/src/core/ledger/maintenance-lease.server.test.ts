import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createInstances } from './instances.ts'
import { createMaintenanceLease } from './maintenance-lease.ts'

const MINUTE_MS = 60_000

let database: Database

beforeAll(async () => {
  database = await openScratchDatabase()
})
beforeEach(() => database.sql.query('DELETE FROM maintenance'))
afterAll(() => database.close())

/** A living process. Its heartbeats are not waited for: its lease outlasts the test. */
async function joined() {
  const { sql } = database
  const id = v7()
  const instances = createInstances({
    sql,
    runtime: systemRuntime,
    identity: { id, host: 'a-host', pid: 7, version: '1.0.0' },
    load: { load: () => [] },
    build: '20261201000000_own',
    leaseMs: 10 * MINUTE_MS,
    retentionDays: 30,
    reap: async () => 0,
    observer: {
      reaped: () => undefined,
      reapable: () => undefined,
      renewable: () => undefined,
      needsBuild: () => undefined,
    },
  })
  await instances.join()
  const lease = createMaintenanceLease(sql, id, { everyMs: MINUTE_MS, orphansEveryMs: 5 * MINUTE_MS })
  const kill = () => sql.query('UPDATE instances SET lease_until = now() WHERE id = $1::uuid', [id])
  return { id, lease, kill, leave: () => instances.leave() }
}

/** Moves what has been written into the past, instead of waiting. */
const pass = (ms: number) =>
  database.sql.query(
    `UPDATE maintenance SET started_at = started_at - $1 * interval '1 ms', ended_at = ended_at - $1 * interval '1 ms',
     orphans_at = orphans_at - $1 * interval '1 ms'`,
    [ms],
  )

test('of many that try at once, one process gets the maintenance, and none while it lives', async () => {
  const processes = await Promise.all(Array.from({ length: 8 }, joined))
  const claims = await Promise.all(processes.map(({ lease }) => lease.claim()))
  expect(claims.filter(({ isClaimed }) => isClaimed)).toHaveLength(1)
  await pass(60 * MINUTE_MS)
  const others = processes.filter((_, index) => claims[index]?.isClaimed === false)
  const again = await Promise.all(others.map(({ lease }) => lease.claim()))
  expect(again.filter(({ isClaimed }) => isClaimed)).toEqual([])
})

test('after the end of the maintenance, the next process that asks gets it when the period is over', async () => {
  const [one, other] = [await joined(), await joined()]
  expect(await one.lease.claim()).toMatchObject({ isClaimed: true })
  await one.lease.end({ orphans: false })
  await pass(MINUTE_MS - 10_000)
  expect(await other.lease.claim()).toMatchObject({ isClaimed: false })
  await pass(10_000)
  expect(await other.lease.claim()).toMatchObject({ isClaimed: true })
  expect([await one.lease.isHeld(), await other.lease.isHeld()]).toEqual([false, true])
})

test.each(['kill', 'leave'] as const)('maintenance is taken from a process that ended by %s', async (how) => {
  const [one, other] = [await joined(), await joined()]
  await one.lease.claim()
  expect(await other.lease.claim()).toMatchObject({ isClaimed: false })
  await one[how]()
  expect(await other.lease.claim()).toMatchObject({ isClaimed: true })

  // The first was only suspended: what it writes when it goes on changes nothing.
  expect(await one.lease.isHeld()).toBe(false)
  await one.lease.end({ orphans: true })
  expect(await one.lease.recordCheck(7)).toBeUndefined()
  expect(await other.lease.isHeld()).toBe(true)
  expect(await other.lease.claim()).toMatchObject({ orphansAreDue: true, check: undefined })
})

test('a process that could not write the end of its maintenance begins again', async () => {
  const { lease } = await joined()
  await lease.claim()
  expect(await lease.claim()).toMatchObject({ isClaimed: true })
})

test('the files are compared in a period of their own, also when processes change', async () => {
  const [one, other] = [await joined(), await joined()]
  expect(await one.lease.claim()).toMatchObject({ orphansAreDue: true })
  await one.lease.end({ orphans: true })
  await pass(2 * MINUTE_MS)
  expect(await other.lease.claim()).toMatchObject({ isClaimed: true, orphansAreDue: false })
  await other.lease.end({ orphans: false })
  await pass(3 * MINUTE_MS)
  expect(await one.lease.claim()).toMatchObject({ orphansAreDue: true })
})

test('every process learns of the last check, in the time of the database', async () => {
  const [one, other] = [await joined(), await joined()]
  expect(await one.lease.claim()).toMatchObject({ check: undefined })
  const checkedAt = await one.lease.recordCheck(3)
  const [row] = await database.sql.query<{ ms: number }>(
    'SELECT abs(extract(epoch FROM now() - $1::timestamptz) * 1000)::float8 AS ms',
    [checkedAt],
  )
  expect(row?.ms).toBeLessThan(MINUTE_MS)
  expect(await other.lease.claim()).toEqual({
    isClaimed: false,
    orphansAreDue: false,
    check: { count: 3, checkedAt },
  })
})
