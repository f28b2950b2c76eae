import { beforeEach, expect, test, vi } from 'vitest'
import { createCachedValue } from './cached-value.ts'

let nowMs = 0
const runtime = { elapsedMs: () => nowMs }
const load = vi.fn<() => Promise<number>>()

beforeEach(() => {
  nowMs = 0
  load.mockReset()
})

test('readers share a running load, however long it takes', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  load.mockReturnValue(promise)
  const value = createCachedValue(load, { runtime, ttlMs: 1_000 })
  const first = value.get()
  nowMs = 5_000
  const second = value.get()
  resolve(7)
  expect(await Promise.all([first, second])).toEqual([7, 7])
  expect(load).toHaveBeenCalledTimes(1)
})

test('a value and a failure are both cached for the time to live', async () => {
  const value = createCachedValue(load, { runtime, ttlMs: 1_000 })
  load.mockRejectedValueOnce(new Error('down')).mockResolvedValueOnce(1).mockResolvedValueOnce(2)
  await expect(value.get()).rejects.toThrow('down')
  nowMs = 999
  await expect(value.get()).rejects.toThrow('down')
  expect(load).toHaveBeenCalledTimes(1)
  nowMs = 1_000
  expect(await value.get()).toBe(1)
  nowMs = 1_999
  expect(await value.get()).toBe(1)
  nowMs = 2_000
  expect(await value.get()).toBe(2)
  expect(load).toHaveBeenCalledTimes(3)
})

test('an invalidated value is loaded again, and the result of an earlier load is not cached', async () => {
  const value = createCachedValue(load, { runtime, ttlMs: 1_000 })
  const { promise, resolve } = Promise.withResolvers<number>()
  load.mockReturnValueOnce(promise).mockResolvedValueOnce(2)
  const first = value.get()
  value.invalidate()
  expect(await value.get()).toBe(2)
  resolve(1)
  expect(await first).toBe(1)
  expect(await value.get()).toBe(2)
})
