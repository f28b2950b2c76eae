import { beforeEach, expect, test, vi } from 'vitest'
import { remember } from './remember.ts'

let nowMs = 0
const runtime = { elapsedMs: () => nowMs }
const ask = vi.fn<() => Promise<number>>()

beforeEach(() => {
  nowMs = 0
  ask.mockReset()
})

test('those that come while the question is under way share it, however long it takes', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  ask.mockReturnValue(promise)
  const remembered = remember(ask, { runtime, forMs: 1_000 })
  const first = remembered.get()
  nowMs = 5_000
  const second = remembered.get()
  resolve(7)
  expect(await Promise.all([first, second])).toEqual([7, 7])
  expect(ask).toHaveBeenCalledTimes(1)
})

test('an answer is remembered for its time, a failure as well', async () => {
  const remembered = remember(ask, { runtime, forMs: 1_000 })
  ask.mockRejectedValueOnce(new Error('down')).mockResolvedValueOnce(1).mockResolvedValueOnce(2)
  await expect(remembered.get()).rejects.toThrow('down')
  nowMs = 999
  await expect(remembered.get()).rejects.toThrow('down')
  expect(ask).toHaveBeenCalledTimes(1)
  nowMs = 1_000
  expect(await remembered.get()).toBe(1)
  nowMs = 1_999
  expect(await remembered.get()).toBe(1)
  nowMs = 2_000
  expect(await remembered.get()).toBe(2)
  expect(ask).toHaveBeenCalledTimes(3)
})

test('what was forgotten is asked anew, and an answer under way is not remembered for it', async () => {
  const remembered = remember(ask, { runtime, forMs: 1_000 })
  const { promise, resolve } = Promise.withResolvers<number>()
  ask.mockReturnValueOnce(promise).mockResolvedValueOnce(2)
  const first = remembered.get()
  remembered.forget()
  expect(await remembered.get()).toBe(2)
  resolve(1)
  expect(await first).toBe(1)
  expect(await remembered.get()).toBe(2)
})
