import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchDiskSpace } from './disk-space.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const BOUND = 1_000

function watched(freeBytesMin = BOUND) {
  const events: unknown[] = []
  const disk: { free: () => Promise<number>; reads: number } = { free: async () => BOUND, reads: 0 }
  const space = watchDiskSpace({
    dataDir: '/data',
    freeBytesMin,
    runtime: { elapsedMs: () => performance.now() },
    observer: {
      low: (isLow, freeBytes) => events.push([isLow, freeBytes]),
      readable: (isReadable) => events.push(isReadable),
    },
    readFreeBytes() {
      disk.reads += 1
      return disk.free()
    },
  })
  return { space, disk, events }
}

test('too little space refuses changes within a second, and enough of it allows them again', async () => {
  const { space, disk, events } = watched()
  await space.start()
  expect(space.isLow).toBe(false)
  disk.free = async () => BOUND - 1
  await vi.advanceTimersByTimeAsync(1_000)
  expect(space.isLow).toBe(true)
  disk.free = async () => BOUND
  await vi.advanceTimersByTimeAsync(1_000)
  expect([space.isLow, space.freeBytes]).toEqual([false, BOUND])
  expect(events).toEqual([
    [true, BOUND - 1],
    [false, BOUND],
  ])
  space.stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('the state of the start is known when the start has ended', async () => {
  const { space, disk } = watched()
  disk.free = async () => 0
  await space.start()
  expect(space.isLow).toBe(true)
  space.stop()
})

test('a file system that fails or hangs leaves the state as it was, and is asked by one read at a time', async () => {
  const { space, disk, events } = watched()
  disk.free = async () => 0
  await space.start()
  disk.free = () => Promise.reject(new Error('EIO'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(events).toEqual([[true, 0], false])
  disk.free = () => new Promise(() => undefined)
  await vi.advanceTimersByTimeAsync(1_000)
  const { reads } = disk
  await vi.advanceTimersByTimeAsync(10_000)
  expect([disk.reads, space.isLow]).toEqual([reads, true])
  space.stop()
})

test('a minimum of 0 switches the watch of the disk off', async () => {
  const { space, disk } = watched(0)
  disk.free = async () => 0
  await space.start()
  await vi.advanceTimersByTimeAsync(5_000)
  expect([space.isLow, disk.reads]).toEqual([false, 0])
})
