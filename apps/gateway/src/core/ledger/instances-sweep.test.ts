import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createInstances } from './instances.ts'

let database: Database

beforeAll(async () => {
  database = await openScratchDatabase()
})
afterAll(() => database.close())

test('rows of processes that ended long ago are deleted, a bounded number at a time', async () => {
  const instances = createInstances({
    sql: database.sql,
    runtime: systemRuntime,
    identity: { id: v7(), host: 'a-host', pid: 7, version: '1.0.0' },
    load: { load: () => [] },
    build: '20261201000000_own',
    leaseMs: 15_000,
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
  await endedDaysAgo({ lease: 31, stopped: 31 }, 1_100)
  // It was killed, so its end was not written.
  await endedDaysAgo({ lease: 31, stopped: null }, 1)
  await endedDaysAgo({ lease: 29, stopped: 29 }, 1)
  await endedDaysAgo({ lease: 29, stopped: null }, 1)

  expect(await instances.sweep()).toBe(1_000)
  expect(await instances.sweep()).toBe(101)
  expect(await instances.sweep()).toBe(0)
  expect(await database.sql.query('SELECT FROM instances')).toHaveLength(3)
  await instances.leave()
})

function endedDaysAgo({ lease, stopped }: { lease: number; stopped: number | null }, rows: number) {
  return database.sql.query(
    `INSERT INTO instances (id, started_at, lease_until, stopped_at)
     SELECT gen_random_uuid(), now() - interval '60 days', now() - $1 * interval '1 day', now() - $2 * interval '1 day'
     FROM generate_series(1, $3)`,
    [lease, stopped, rows],
  )
}
