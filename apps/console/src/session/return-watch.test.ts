import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ReturnWatch } from './return-watch.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a watch looks until the gateway answers and what waited for it succeeds, at most every ten seconds', async () => {
  let [isBack, isDone] = [false, false]
  const [looked, resumed] = [vi.fn(async () => isBack), vi.fn(async () => isDone)]
  const watch = new ReturnWatch(resumed, looked)
  watch.start()
  watch.start()
  await vi.advanceTimersByTimeAsync(15_000)
  expect([looked.mock.calls.length, resumed.mock.calls.length]).toEqual([4, 0])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looked).toHaveBeenCalledTimes(10)
  isBack = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(resumed).toHaveBeenCalledTimes(1)
  isDone = true
  await vi.advanceTimersByTimeAsync(10_000)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(resumed).toHaveBeenCalledTimes(2)
  watch.start()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(resumed).toHaveBeenCalledTimes(3)
})

test('a watch that is stopped while it looks does not go on', async () => {
  const looked = vi.fn(async () => {
    watch.stop()
    return false
  })
  const watch = new ReturnWatch(async () => true, looked)
  watch.start()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looked).toHaveBeenCalledTimes(1)
})
