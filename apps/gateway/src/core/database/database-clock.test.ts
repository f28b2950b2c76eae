import { validate, version } from 'uuid'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Sql } from './database.ts'
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts'

const HOUR_MS = 3_600_000
const MACHINE = new Date('2026-11-23T12:00:00Z')

let clock: DatabaseClock
let elapsedMs: number
/** The database's time minus the machine's elapsed time. */
let databaseMs: number
/** How long a request and its response take. */
let wayMs: [there: number, back: number]
let isDown: boolean

beforeEach(() => {
  vi.useFakeTimers()
  elapsedMs = 1_000
  databaseMs = Date.parse('2026-11-22T12:00:00Z')
  wayMs = [0, 0]
  isDown = false
  const sql: Sql = {
    async query<Row>() {
      if (isDown) throw new Error('away')
      elapsedMs += wayMs[0]
      const row = { ms: databaseMs + elapsedMs }
      elapsedMs += wayMs[1]
      return [row] as Row[]
    },
  }
  clock = createDatabaseClock(sql, { ...systemRuntime, now: () => MACHINE, elapsedMs: () => elapsedMs })
})
afterEach(() => {
  clock.stop()
  vi.useRealTimers()
})

const aheadMs = () => clock.runtime.now().getTime() - (databaseMs + elapsedMs)

test('the time is the machine’s until the first sync, and the database’s from then on', async () => {
  expect(clock.runtime.now()).toEqual(MACHINE)
  await clock.sync()
  expect(aheadMs()).toBe(0)
  elapsedMs += HOUR_MS
  expect(aheadMs()).toBe(0)
})

test('the error is at most half the round trip of the first response, and a slow response does not increase it', async () => {
  wayMs = [10, 2]
  await clock.sync()
  expect(Math.abs(aheadMs())).toBeLessThanOrEqual(6)
  wayMs = [0, 0]
  await clock.sync()
  expect(aheadMs()).toBe(0)
  wayMs = [4_000, 0]
  await clock.sync()
  expect(aheadMs()).toBe(0)
})

test('the time follows a database whose clock was set, and continues while the database is not available', async () => {
  await clock.sync()
  clock.start()
  databaseMs += HOUR_MS
  await vi.advanceTimersByTimeAsync(5_000)
  expect(aheadMs()).toBe(0)
  isDown = true
  await vi.advanceTimersByTimeAsync(5_000)
  elapsedMs += HOUR_MS
  expect(aheadMs()).toBe(0)
  isDown = false
  databaseMs -= 2 * HOUR_MS
  await vi.advanceTimersByTimeAsync(5_000)
  expect(aheadMs()).toBe(0)
  clock.stop()
  databaseMs += HOUR_MS
  await vi.advanceTimersByTimeAsync(10_000)
  expect(aheadMs()).toBe(-HOUR_MS)
})

test('ids begin with the time of the database', async () => {
  await clock.sync()
  const [first, second] = [clock.runtime.newId(), clock.runtime.newId()]
  elapsedMs += 1
  const later = clock.runtime.newId()
  for (const id of [first, second, later]) expect([validate(id), version(id)]).toEqual([true, 7])
  expect(Number.parseInt(first.replace('-', '').slice(0, 12), 16)).toBe(databaseMs + 1_000)
  expect(second).not.toBe(first)
  expect(later > first && later > second).toBe(true)
})
