import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/principal.ts'
import { createUsageFeed } from './usage-feed.ts'

const [USER, DAY] = ['0198c0de-0000-7000-8000-000000000001', new Date('2026-11-22T00:00:00Z')]
const caller: Principal = {
  userId: USER,
  role: 'user',
  via: { kind: 'token', tokenId: USER, expiresAt: new Date('2099-01-01') },
}

let calls = 0
let answerMs = 0
const reads = vi.fn()
/** A database whose answers take a while. */
const sql: Sql = {
  async query<Row>() {
    reads()
    const state = { refusal: null, grain: 'owner', subject: USER, api_calls_count: calls, max_api_calls: 10 }
    const quota = { quota_period: 'none', quota_start: '1970-01-01T00:00:00Z' }
    await new Promise((resolve) => setTimeout(resolve, answerMs))
    return [{ clock: DAY, day: DAY, callers: [{ ...state, ...quota }], sums: [] }] as Row[]
  },
}

const feedOf = () =>
  createUsageFeed({
    sql,
    runtime: { now: () => new Date(), elapsedMs: () => performance.now() },
    onAnswer: () => undefined,
  })

beforeEach(() => {
  vi.useFakeTimers()
  calls = 0
  answerMs = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.clearAllMocks()
})

/** The times at which updates arrive, from now on. */
function timesOf(updates: AsyncIterable<unknown>): number[] {
  const startMs = Date.now()
  const times: number[] = []
  async function read(): Promise<void> {
    for await (const _update of updates) times.push(Date.now() - startMs)
  }
  void read().catch(() => undefined)
  return times
}

test('a usage that changes all the time is sent twice a second at most', async () => {
  const feed = feedOf()
  const times = timesOf(feed.subscribe(caller))
  for (const [durationMs, answer] of [
    [3_000, 0],
    [3_000, 300],
    [3_000, 10],
  ] as const) {
    answerMs = answer
    for (let ms = 0; ms < durationMs; ms += 50) {
      calls += 1
      await vi.advanceTimersByTimeAsync(50)
    }
  }
  feed.close()
  expect(times[0]).toBeLessThan(100)
  expect(times.length).toBeGreaterThan(12)
  for (const [index, ms] of times.slice(1).entries())
    expect(ms - (times[index] ?? 0)).toBeGreaterThanOrEqual(500)
})

test('a usage that does not change is sent once to each subscriber', async () => {
  const feed = feedOf()
  const times = timesOf(feed.subscribe(caller))
  await vi.advanceTimersByTimeAsync(5_000)
  const later = timesOf(feed.subscribe(caller))
  await vi.advanceTimersByTimeAsync(5_000)
  expect([times.length, later.length]).toEqual([1, 1])
  expect(later[0]).toBeLessThanOrEqual(500)
  calls += 1
  await vi.advanceTimersByTimeAsync(1_000)
  expect([times.length, later.length]).toEqual([2, 2])
  feed.close()
})

test('subscribers that come and go do not make the feed read more often', async () => {
  const feed = feedOf()
  for (let ms = 0; ms < 5_000; ms += 100) {
    const updates = feed.subscribe(caller)
    void updates.next()
    await vi.advanceTimersByTimeAsync(100)
    await updates.return?.()
  }
  expect(reads.mock.calls.length).toBeLessThanOrEqual(10)
})

test('a slow database is never asked twice at once', async () => {
  answerMs = 4_000
  const feed = feedOf()
  timesOf(feed.subscribe(caller))
  await vi.advanceTimersByTimeAsync(3_900)
  expect(reads).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(reads).toHaveBeenCalledTimes(2)
  feed.close()
})
