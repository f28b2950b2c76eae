import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Timeouts } from '#core/agents/adapter.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { type DeadlineEvent, ReplyDeadlines } from './reply-deadlines.ts'

const timeouts: Timeouts = { connectMs: 5, firstByteMs: 300, idleMs: 100, totalMs: 1_000 }

let events: DeadlineEvent[]

beforeEach(() => {
  vi.useFakeTimers()
  events = []
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function start(more: Partial<Timeouts> = {}): ReplyDeadlines {
  return new ReplyDeadlines({ ...timeouts, ...more }, systemRuntime, (event) => events.push(event))
}

/** The milliseconds until the next event; undefined if there is none within the time. */
function nextEventAfterMs(withinMs = 5_000): number | undefined {
  const before = events.length
  for (let ms = 1; ms <= withinMs; ms += 1) {
    vi.advanceTimersByTime(1)
    if (events.length > before) return ms
  }
  return undefined
}

test('without a first byte the deadline passes once', () => {
  start()
  expect(nextEventAfterMs()).toBe(300)
  expect(events).toEqual(['timeout'])
  expect(nextEventAfterMs()).toBeUndefined()
})

test.each([
  ['shorter', 300],
  ['longer', 20],
])('after the first byte the idle time applies, which is %s', (_name, firstByteMs) => {
  const deadlines = start({ firstByteMs })
  vi.advanceTimersByTime(10)
  deadlines.firstByte()
  expect(nextEventAfterMs()).toBe(100)
  expect(events).toEqual(['timeout'])
})

test('activity restarts the idle time; a ping does not', () => {
  const deadlines = start()
  deadlines.firstByte()
  for (let beat = 0; beat < 5; beat += 1) {
    vi.advanceTimersByTime(60)
    deadlines.activity()
  }
  vi.advanceTimersByTime(60)
  // A ping: bytes arrived, but no event.
  deadlines.firstByte()
  expect(nextEventAfterMs()).toBe(40)
})

test('the total time is limited, however active the reply is', () => {
  const deadlines = start()
  deadlines.firstByte()
  for (let beat = 0; beat < 19; beat += 1) {
    vi.advanceTimersByTime(50)
    deadlines.activity()
  }
  expect(nextEventAfterMs()).toBe(50)
  expect(events).toEqual(['timeout'])
})

test('the idle time is suspended while the gateway waits for the client', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.pauseIdle()
  vi.advanceTimersByTime(750)
  expect(events).toEqual([])
  deadlines.resumeIdle()
  expect(nextEventAfterMs()).toBe(100)
})

test('a slow client still has to end within the total time', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.pauseIdle()
  expect(nextEventAfterMs()).toBe(1_000)
  expect(events).toEqual(['timeout'])
})

test('the grace period begins with the first reported end and passes even without activity', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(80)
  vi.advanceTimersByTime(50)
  deadlines.activity()
  deadlines.startGrace(80)
  expect(nextEventAfterMs()).toBe(30)
  expect(events).toEqual(['grace'])
})

test('after the reported end a deadline does not fail the reply', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(400)
  expect(nextEventAfterMs()).toBe(100)
  expect(events).toEqual(['grace'])
})

test('after a withdrawn end a deadline fails the reply again, until another end is reported', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(50)
  vi.advanceTimersByTime(40)
  deadlines.activity()
  deadlines.endGrace()
  vi.advanceTimersByTime(60)
  expect(events).toEqual([])
  deadlines.activity()
  deadlines.startGrace(50)
  expect(nextEventAfterMs()).toBe(50)
  expect(events).toEqual(['grace'])
})

test('a withdrawn end leaves the idle time as it was', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(50)
  deadlines.endGrace()
  expect(nextEventAfterMs()).toBe(100)
  expect(events).toEqual(['timeout'])
})

test('stopped deadlines report nothing', () => {
  const deadlines = start()
  deadlines.firstByte()
  deadlines.startGrace(50)
  deadlines.stop()
  expect(nextEventAfterMs()).toBeUndefined()
})
