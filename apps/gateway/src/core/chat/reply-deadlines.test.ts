import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Timeouts } from '#core/agents/adapter.ts'
import { systemRuntime } from '#core/runtime.ts'
import { type DeadlineEvent, type ReplyDeadlines, startReplyDeadlines } from './reply-deadlines.ts'

const timeouts: Timeouts = { connectMs: 5, firstByteMs: 300, idleMs: 100, totalMs: 1_000 }

let told: DeadlineEvent[]

beforeEach(() => {
  vi.useFakeTimers()
  told = []
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function start(more: Partial<Timeouts> = {}): ReplyDeadlines {
  return startReplyDeadlines({ ...timeouts, ...more }, systemRuntime, (event) => told.push(event))
}

/** When, from now on, something was told; undefined where nothing was within the time. */
function toldAfterMs(withinMs = 5_000): number | undefined {
  const before = told.length
  for (let ms = 1; ms <= withinMs; ms += 1) {
    vi.advanceTimersByTime(1)
    if (told.length > before) return ms
  }
  return undefined
}

test('without a first byte the time ends once', () => {
  start()
  expect(toldAfterMs()).toBe(300)
  expect(told).toEqual(['timeout'])
  expect(toldAfterMs()).toBeUndefined()
})

test.each([
  ['shorter', 300],
  ['longer', 20],
])('after the first byte the allowed silence counts, which is %s', (_name, firstByteMs) => {
  const deadlines = start({ firstByteMs })
  vi.advanceTimersByTime(10)
  deadlines.firstByte()
  expect(toldAfterMs()).toBe(100)
  expect(told).toEqual(['timeout'])
})

test('life puts the end of the silence off; what is no life (a ping) does not', () => {
  const deadlines = start()
  deadlines.firstByte()
  for (let beat = 0; beat < 5; beat += 1) {
    vi.advanceTimersByTime(60)
    deadlines.activity()
  }
  vi.advanceTimersByTime(60)
  // A ping: a byte came, nothing else.
  deadlines.firstByte()
  expect(toldAfterMs()).toBe(40)
})

test('the whole reply takes no longer than allowed, however lively it is', () => {
  const deadlines = start()
  deadlines.firstByte()
  for (let beat = 0; beat < 19; beat += 1) {
    vi.advanceTimersByTime(50)
    deadlines.activity()
  }
  expect(toldAfterMs()).toBe(50)
  expect(told).toEqual(['timeout'])
})

test('while the client is served, silence does not count: the platform may be paused for its sake', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.pauseIdle()
  vi.advanceTimersByTime(750)
  expect(told).toEqual([])
  deadlines.resumeIdle()
  expect(toldAfterMs()).toBe(100)
})

test('a slow client still has to end within the total time', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.pauseIdle()
  expect(toldAfterMs()).toBe(1_000)
  expect(told).toEqual(['timeout'])
})

test('a reported end has its grace, which begins with the first report and passes even in silence', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(80)
  vi.advanceTimersByTime(50)
  deadlines.activity()
  deadlines.startGrace(80)
  expect(toldAfterMs()).toBe(30)
  expect(told).toEqual(['grace'])
})

test('after the reported end no deadline makes a failure of the reply', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(400)
  expect(toldAfterMs()).toBe(100)
  expect(told).toEqual(['grace'])
})

test('a stopped watch tells nothing', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(50)
  deadlines.stop()
  expect(toldAfterMs()).toBeUndefined()
})
