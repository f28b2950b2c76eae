import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventLoopWatch } from './event-loop-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a timer that comes in time is late by nothing, and one that is held up by as much', async () => {
  const seen: number[] = []
  const watch = new EventLoopWatch((ms) => seen.push(ms))
  watch.start()
  await vi.advanceTimersByTimeAsync(200)
  // The clock goes on while no timer runs, as when the loop is blocked.
  vi.setSystemTime(Date.now() + 1)
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValueOnce(now + 600)
  await vi.advanceTimersByTimeAsync(100)
  watch.stop()
  expect(seen).toEqual([0, 0, 500])
})

test('the watch of the event loop is started once, and leaves no timer behind', () => {
  const watch = new EventLoopWatch(() => undefined)
  watch.start()
  watch.start()
  expect(vi.getTimerCount()).toBe(1)
  watch.stop()
  expect(vi.getTimerCount()).toBe(0)
})
