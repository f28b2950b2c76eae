import { expect, test, vi } from 'vitest'
import { AsyncQueue } from './async-queue.ts'

const DONE = { value: undefined, done: true }
const item = (value: number) => ({ value, done: false })

/** Whether a promise is settled after all pending work has run. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const turn = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([Promise.resolve(promise).then(() => true), turn])
}

test('values are read in their order, and the end comes after them', async () => {
  const queue = new AsyncQueue<number>()
  queue.push([1, 2])
  queue.push([])
  queue.push([3])
  queue.end()
  queue.push([4])
  const seen: number[] = []
  for await (const value of queue) seen.push(value)
  expect(seen).toEqual([1, 2, 3])
})

test('calls of next that wait are answered in their order', async () => {
  const queue = new AsyncQueue<number>()
  const waiting = [queue.next(), queue.next(), queue.next(), queue.next()]
  queue.push([1, 2])
  queue.push([3])
  queue.end()
  expect(await Promise.all(waiting)).toEqual([item(1), item(2), item(3), DONE])
})

test('a value that replaces others is read alone', async () => {
  const queue = new AsyncQueue<number>()
  queue.push([1, 2])
  queue.replace(3)
  expect(await queue.next()).toEqual(item(3))
  const waiting = [queue.next(), queue.next()]
  queue.replace(4)
  queue.replace(5)
  expect(await Promise.all(waiting)).toEqual([item(4), item(5)])
})

test('undefined and null are values', async () => {
  const queue = new AsyncQueue<null | undefined>()
  queue.push([undefined, null])
  expect([await queue.next(), await queue.next()]).toEqual([
    { value: undefined, done: false },
    { value: null, done: false },
  ])
})

test('an error comes after the values that were not read yet, and once', async () => {
  const onClose = vi.fn()
  const queue = new AsyncQueue<number>({ onClose })
  queue.push([1])
  queue.fail(new Error('the end'))
  queue.push([2])
  queue.fail(new Error('too late'))
  expect(await queue.next()).toEqual(item(1))
  await expect(queue.next()).rejects.toThrow('the end')
  expect(await queue.next()).toEqual(DONE)
  expect(onClose).toHaveBeenCalledOnce()
})

test('the first call that waits gets the error, and the others the end', async () => {
  const queue = new AsyncQueue<number>()
  const waiting = [queue.next(), queue.next()]
  queue.fail(new Error('the end'))
  const results = await Promise.allSettled(waiting)
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('nothing is asked of the producer before a reader finds nothing to read', async () => {
  const onWant = vi.fn()
  const queue = new AsyncQueue<number>({ onWant })
  queue.push([1])
  await queue.next()
  expect(onWant).not.toHaveBeenCalled()
  const waiting = [queue.next(), queue.next()]
  expect(onWant).toHaveBeenCalledTimes(2)
  queue.push([2, 3])
  await Promise.all(waiting)
  expect(onWant).toHaveBeenCalledTimes(2)
})

test('a producer waits until everything was read and more is wanted', async () => {
  const queue = new AsyncQueue<number>()
  queue.push([1, 2])
  const drained = queue.drained()
  await queue.next()
  await queue.next()
  expect(await isSettled(drained)).toBe(false)
  const waiting = queue.next()
  expect(await isSettled(drained)).toBe(true)
  expect(queue.drained()).toBeUndefined()
  queue.end()
  await waiting
  expect(queue.drained()).toBeUndefined()
})

test.each(['return', 'end', 'fail'] as const)('a producer that waits goes on after %s', async (method) => {
  const queue = new AsyncQueue<number>()
  queue.push([1])
  const drained = queue.drained()
  void queue[method](new Error('the end'))
  expect(await isSettled(drained)).toBe(true)
})

test('a reader that leaves waits for no value, gets nothing more, and releases what it held once', async () => {
  const [onLeave, onClose] = [vi.fn(), vi.fn()]
  const queue = new AsyncQueue<number>({ onLeave, onClose })
  const waiting = [queue.next(), queue.next()]
  expect(await queue.return()).toEqual(DONE)
  expect(await queue.return()).toEqual(DONE)
  queue.push([1])
  queue.fail(new Error('too late'))
  expect(await Promise.all(waiting)).toEqual([DONE, DONE])
  expect(await queue.next()).toEqual(DONE)
  expect(onLeave).toHaveBeenCalledOnce()
  expect(onClose).toHaveBeenCalledOnce()
})

test('a reader that leaves before its first value releases what it held', async () => {
  const [onWant, onLeave] = [vi.fn(), vi.fn()]
  const queue = new AsyncQueue<number>({ onWant, onLeave })
  queue.push([1])
  await queue.return()
  expect(await queue.next()).toEqual(DONE)
  expect(onLeave).toHaveBeenCalledOnce()
  expect(onWant).not.toHaveBeenCalled()
})

test('who leaves after the end, with or without having read it, leaves nothing', async () => {
  for (const end of [(queue: AsyncQueue<number>) => queue.end(), fail]) {
    const onLeave = vi.fn()
    const queue = new AsyncQueue<number>({ onLeave })
    queue.push([1])
    end(queue)
    expect(await queue.return()).toEqual(DONE)
    expect(await queue.next()).toEqual(DONE)
    expect(onLeave).not.toHaveBeenCalled()
  }
})

test('return waits for what the leaving does', async () => {
  const left = Promise.withResolvers<void>()
  const queue = new AsyncQueue<number>({ onLeave: () => left.promise })
  const returned = queue.return()
  expect(await isSettled(returned)).toBe(false)
  left.resolve()
  expect(await isSettled(returned)).toBe(true)
})

test('throw leaves and rejects with its error', async () => {
  const onLeave = vi.fn()
  const queue = new AsyncQueue<number>({ onLeave })
  await expect(queue.throw(new Error('enough'))).rejects.toThrow('enough')
  expect(await queue.next()).toEqual(DONE)
  expect(onLeave).toHaveBeenCalledOnce()
})

function fail(queue: AsyncQueue<number>): void {
  queue.fail(new Error('the end'))
}
