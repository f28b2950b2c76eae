import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSpacedRead } from './spaced-read.ts'

const runtime = { elapsedMs: () => performance.now() }
const read = vi.fn<() => Promise<number>>()

beforeEach(() => {
  vi.useFakeTimers()
  read.mockReset()
})
afterEach(() => vi.useRealTimers())

test('the first caller does not wait, and all who call within the interval share one later read', async () => {
  let reads = 0
  read.mockImplementation(async () => {
    reads += 1
    return reads
  })
  const readAgain = createSpacedRead(read, { runtime, intervalMs: 100 })
  expect(await readAgain()).toBe(1)

  const shared = Array.from({ length: 1_000 }, () => readAgain())
  await vi.advanceTimersByTimeAsync(99)
  expect(read).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(new Set(await Promise.all(shared))).toEqual(new Set([2]))
})

test('a read begins only when the one before has ended, with an error as well', async () => {
  const { promise, reject } = Promise.withResolvers<number>()
  read.mockReturnValueOnce(promise).mockResolvedValueOnce(2)
  const readAgain = createSpacedRead(read, { runtime, intervalMs: 100 })
  const first = readAgain()
  await vi.advanceTimersByTimeAsync(0)
  const second = readAgain()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(read).toHaveBeenCalledTimes(1)
  reject(new Error('down'))
  await expect(first).rejects.toThrow('down')
  expect(await second).toBe(2)
})
