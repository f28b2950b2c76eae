import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createUsageFeed } from './usage-feed.ts'

/** The columns of a sum in which these tests do not count. */
const NO_TOKENS = {
  failed: 0,
  token_calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  first_chunk: null,
  duration: null,
}
const [USER, DAY] = ['0198c0de-0000-7000-8000-000000000001', new Date('2026-11-22T00:00:00Z')]
const caller: Principal = {
  userId: USER,
  role: 'user',
  via: { kind: 'token', tokenId: USER, expiresAt: new Date('2099-01-01') },
}

/** Admitted calls, which change the quota, and ended calls, which change the totals. */
let calls = 0
let ended = 0
let answerMs = 0
const reads = vi.fn()
/** A database whose answers take a while. */
const sql: Sql = {
  async query<Row>() {
    reads()
    const state = { refusal: null, grain: 'owner', subject: USER, api_calls_count: calls, max_api_calls: 10 }
    const quota = { quota_period: 'none', quota_start: '1970-01-01T00:00:00Z' }
    await new Promise((resolve) => setTimeout(resolve, answerMs))
    const sums = { grain: 'owner', subject: USER, outcome: 'done', calls: ended, ...NO_TOKENS }
    return [{ clock: DAY, day: DAY, callers: [{ ...state, ...quota }], sums: [sums] }] as Row[]
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
  ended = 0
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
      ended += 1
      await vi.advanceTimersByTimeAsync(50)
    }
  }
  feed.close()
  expect(times[0]).toBeLessThan(100)
  expect(times.length).toBeGreaterThan(12)
  for (const [index, ms] of times.slice(1).entries())
    expect(ms - (times[index] ?? 0)).toBeGreaterThanOrEqual(500)
})

test('a quota that changes alone is sent every five seconds at most, and with every change of the totals', async () => {
  const feed = feedOf()
  const times = timesOf(feed.subscribe(caller))
  for (let ms = 0; ms < 20_000; ms += 100) {
    calls += 1
    await vi.advanceTimersByTimeAsync(100)
  }
  // The first, the first change, and then one in each five seconds.
  expect(times.length).toBeGreaterThanOrEqual(4)
  expect(times.length).toBeLessThanOrEqual(6)
  for (const [index, ms] of times.slice(2).entries())
    expect(ms - (times[index + 1] ?? 0)).toBeGreaterThanOrEqual(5_000)
  const before = times.length
  for (let change = 0; change < 4; change += 1) {
    ended += 1
    await vi.advanceTimersByTimeAsync(500)
  }
  expect(times.length).toBeGreaterThanOrEqual(before + 3)
  feed.close()
})

test('who subscribes between two changes of the quota gets the present one, and gets it once', async () => {
  const feed = feedOf()
  const times = timesOf(feed.subscribe(caller))
  await vi.advanceTimersByTimeAsync(1_000)
  calls += 1
  await vi.advanceTimersByTimeAsync(1_000)
  calls += 1
  const later = timesOf(feed.subscribe(caller))
  await vi.advanceTimersByTimeAsync(1_000)
  expect([times.length, later.length]).toEqual([2, 1])
  await vi.advanceTimersByTimeAsync(5_000)
  expect([times.length, later.length]).toEqual([3, 1])
  feed.close()
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
