import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentLoad } from '#core/agents/deployments/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createInstances } from './instances.ts'

let database: Database

beforeAll(async () => {
  database = await openScratchDatabase()
})
afterAll(() => database.close())

/** A process whose next heartbeat is far away. */
function processWith(pid: number, load: readonly AgentLoad[]) {
  const id = v7()
  const instances = createInstances({
    sql: database.sql,
    runtime: systemRuntime,
    identity: { id, host: 'a-host', pid, version: '1.0.0' },
    load: { load: () => load },
    build: '20261201000000_own',
    leaseMs: 600_000,
    retentionDays: 30,
    reap: async () => 0,
    observer: {
      reaped: () => undefined,
      reapable: () => undefined,
      renewable: () => undefined,
      needsBuild: () => undefined,
    },
  })
  return { id, instances }
}

const busy: AgentLoad = {
  agent: 'dify',
  inFlight: 3,
  waiting: 1,
  deployments: [
    { id: 'eu', breaker: 'open', inFlight: 0, openSince: 1_700_000_000_000, reason: 'agent_timeout' },
    { id: 'us', breaker: 'closed', inFlight: 3 },
  ],
}

test('the loads of live processes are read with where they run, and not those of stopped or dead ones', async () => {
  const [one, other, stopped, dead] = [1, 2, 3, 4].map((pid) => processWith(pid, pid === 2 ? [] : [busy]))
  if (!(one && other && stopped && dead)) throw new Error('four processes')
  for (const { instances } of [one, other, stopped, dead]) await instances.join()
  await stopped.instances.leave()
  await database.sql.query('UPDATE instances SET lease_until = now() WHERE id = $1::uuid', [dead.id])
  // Of a version that writes no load.
  const earlier = v7()
  await database.sql.query(
    `INSERT INTO instances (id, started_at, lease_until) VALUES ($1::uuid, now() + interval '1 s', now() + interval '1 h')`,
    [earlier],
  )
  expect(await one.instances.loads()).toEqual([
    { instance: one.id, host: 'a-host', pid: 1, version: '1.0.0', agents: [busy] },
    { instance: other.id, host: 'a-host', pid: 2, version: '1.0.0', agents: [] },
    { instance: earlier, host: null, pid: null, version: null, agents: [] },
  ])
  expect([one.instances.hasJoined, stopped.instances.hasJoined]).toEqual([true, false])
  await Promise.all([one, other, dead].map(({ instances }) => instances.leave()))
})
