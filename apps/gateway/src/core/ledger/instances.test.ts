import { v7 } from 'uuid'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { createInstances, type Instances } from './instances.ts'

const LEASE_MS = 15_000
const BEAT_MS = LEASE_MS / 3
const BUILD = '20261201000000_own'

let instances: Instances
let processes: { live: number }
let database: 'up' | 'down' | 'hanging'
let settings: 'up' | 'hanging'
let beats: number
let live: number
let min_build: string | null
let wakes: (() => void)[]
/** The place of the load among the values of a heartbeat. */
const LOAD = 6

let written: unknown[]
let inFlight: number
const reap = vi.fn(async () => 0)
const observer = { reaped: vi.fn(), reapable: vi.fn(), renewable: vi.fn(), needsBuild: vi.fn() }

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
  database = 'up'
  settings = 'up'
  beats = 0
  live = 1
  min_build = null
  wakes = []
  written = []
  inFlight = 0
  const sql: Sql = {
    async query<Row>(_text: string, values: readonly unknown[] = []) {
      beats += 1
      written.push(values[LOAD])
      if (database === 'down') throw new Error('no database')
      if (database === 'hanging') await new Promise<void>((resolve) => wakes.push(resolve))
      return [{ live }] as Row[]
    },
  }
  const readSql: Sql = {
    async query<Row>() {
      if (settings === 'hanging') await new Promise<void>((resolve) => wakes.push(resolve))
      return [{ min_build }] as Row[]
    },
  }
  const runtime = { ...systemRuntime, elapsedMs: () => Date.now() }
  processes = { live: 1 }
  instances = createInstances({
    sql,
    readSql,
    runtime,
    identity: { id: v7(), host: 'a-host', pid: 7, version: '1.0.0' },
    processes,
    load: { load: () => [{ agent: 'dify', inFlight, waiting: 0, deployments: [] }] },
    build: BUILD,
    leaseMs: LEASE_MS,
    retentionDays: 30,
    reap,
    observer,
  })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a process reaps after it has been connected for a whole lease, and at every later heartbeat', async () => {
  await instances.join()
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
  expect(reap).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(reap).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(2 * BEAT_MS)
  expect(reap).toHaveBeenCalledTimes(3)
})

test('after an outage no process is reaped for a whole lease, so that live ones can renew theirs', async () => {
  await instances.join()
  await vi.advanceTimersByTimeAsync(LEASE_MS)
  database = 'down'
  await vi.advanceTimersByTimeAsync(4 * BEAT_MS)
  expect(observer.renewable.mock.calls).toEqual([[false, expect.any(Error)]])
  reap.mockClear()
  database = 'up'
  await vi.advanceTimersByTimeAsync(LEASE_MS)
  expect(observer.renewable.mock.calls.slice(1)).toEqual([[true, undefined]])
  expect(reap).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(reap).toHaveBeenCalledTimes(1)
})

test('no process is reaped for a whole lease after the database hung without failing a heartbeat', async () => {
  await instances.join()
  await vi.advanceTimersByTimeAsync(LEASE_MS)
  reap.mockClear()
  database = 'hanging'
  await vi.advanceTimersByTimeAsync(LEASE_MS)
  database = 'up'
  for (const wake of wakes) wake()
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
  expect(observer.renewable).not.toHaveBeenCalled()
  expect(reap).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(reap).toHaveBeenCalledTimes(1)
})

test('a heartbeat waits neither for the reaper nor for the settings, and neither of them is asked twice at once', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  reap.mockReturnValue(promise)
  await instances.join()
  settings = 'hanging'
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
  expect(beats).toBe(1 + 30)
  expect(reap).toHaveBeenCalledTimes(1)
  expect(wakes).toHaveLength(1)
  expect(observer.renewable).not.toHaveBeenCalled()
  resolve(0)
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(reap).toHaveBeenCalledTimes(2)
})

test('a reaper that fails is reported once, and asked again after the next heartbeat', async () => {
  reap.mockRejectedValueOnce(new Error('a lock')).mockRejectedValueOnce(new Error('a lock'))
  await instances.join()
  await vi.advanceTimersByTimeAsync(LEASE_MS + 2 * BEAT_MS)
  expect(observer.reapable.mock.calls).toEqual([
    [false, expect.any(Error)],
    [true, undefined],
  ])
  expect(observer.renewable).not.toHaveBeenCalled()
})

test('after a failure the next heartbeat comes sooner, since the lease is running out', async () => {
  await instances.join()
  database = 'down'
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(beats).toBe(2)
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(beats).toBe(2 + 5)
})

test('reaped calls are reported', async () => {
  reap.mockResolvedValueOnce(7)
  await instances.join()
  await vi.advanceTimersByTimeAsync(LEASE_MS + BEAT_MS)
  expect(observer.reaped.mock.calls).toEqual([[7]])
})

test('the last heartbeat determines how many processes share the limits, at least this one', async () => {
  live = 4
  await instances.join()
  expect(processes.live).toBe(4)
  live = 0
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(processes.live).toBe(1)
})

test('the last heartbeat determines whether the process is too old for the database, and each change is reported once', async () => {
  min_build = BUILD
  await instances.join()
  expect(instances.neededBuild).toBeUndefined()
  min_build = '20261202000000_contract'
  await vi.advanceTimersByTimeAsync(2 * BEAT_MS)
  expect(instances.neededBuild).toBe(min_build)
  min_build = '20261130000000_earlier'
  await vi.advanceTimersByTimeAsync(2 * BEAT_MS)
  expect(instances.neededBuild).toBeUndefined()
  expect(observer.needsBuild.mock.calls).toEqual([['20261202000000_contract'], [undefined]])
})

test('a process that has left sends no heartbeats', async () => {
  await instances.join()
  await instances.leave()
  await vi.advanceTimersByTimeAsync(3 * LEASE_MS)
  expect(reap).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('each heartbeat is one statement, which also tells the load of that moment', async () => {
  inFlight = 7
  await instances.join()
  expect(written).toEqual(['[{"agent":"dify","inFlight":7,"deployments":[]}]'])
  inFlight = 0
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect(written.slice(1)).toEqual(['[{"agent":"dify","deployments":[]}]'])
})
