import { expect, test } from 'vitest'
import { type BatcherOptions, createBatcher } from './batcher.ts'

const lost = new Error('the connection is lost')

/** Doubles numbers. */
function doubling({
  sizeMax = 100,
  before = async () => undefined,
  gather,
}: Partial<Pick<BatcherOptions, 'sizeMax' | 'gather'>> & {
  before?: (batch: number) => Promise<void>
} = {}) {
  const batches: (readonly number[])[] = []
  const double = createBatcher<number, number>(
    async (items) => {
      await before(batches.push(items) - 1)
      if (items.includes(13)) throw new Error('13 is refused')
      if (items.includes(99)) throw lost
      return items.map((item) => item * 2)
    },
    { sizeMax, isShared: (error) => error === lost, ...(gather !== undefined && { gather }) },
  )
  return { double, batches }
}

test('calls of one event loop turn share a batch, and calls that arrive while it runs share the next', async () => {
  const gate = Promise.withResolvers<void>()
  const { double, batches } = doubling({ before: () => gate.promise })
  const first = Promise.all([1, 2, 3].map(double))
  await Promise.resolve()
  const second = Promise.all([4, 5].map(double))
  gate.resolve()
  expect(await first).toEqual([2, 4, 6])
  expect(await second).toEqual([8, 10])
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
})

test('a batch contains at most the maximum number of items', async () => {
  const { double, batches } = doubling({ sizeMax: 2 })
  expect(await Promise.all([1, 2, 3, 4, 5].map(double))).toEqual([2, 4, 6, 8, 10])
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
})

test('an item that is rejected fails alone, as its batch is halved until it is isolated', async () => {
  const { double, batches } = doubling()
  const results = await Promise.allSettled([1, 2, 13, 4].map(double))
  expect(results).toEqual([
    { status: 'fulfilled', value: 2 },
    { status: 'fulfilled', value: 4 },
    { status: 'rejected', reason: new Error('13 is refused') },
    { status: 'fulfilled', value: 8 },
  ])
  expect(batches).toEqual([[1, 2, 13, 4], [1, 2], [13, 4], [13], [4]])
})

test('an error that is shared by all items fails the whole batch at once', async () => {
  const { double, batches } = doubling()
  const results = await Promise.allSettled([1, 99, 3].map(double))
  expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: lost }))
  expect(batches).toEqual([[1, 99, 3]])
})

test('a batch that is too slow is retried in smaller ones, and the following batches grow slowly', async () => {
  const slow = new Error('too slow')
  const sizes: number[] = []
  const double = createBatcher<number, number>(
    async (items) => {
      sizes.push(items.length)
      if (items.length > 20) throw slow
      return items.map((item) => item * 2)
    },
    { sizeMax: 64, isShared: () => false, isTooSlow: (error) => error === slow },
  )
  const numbers = Array.from({ length: 100 }, (_, index) => index)
  expect(await Promise.all(numbers.map(double))).toEqual(numbers.map((each) => each * 2))
  expect(sizes).toEqual([64, 32, 16, 18, 20, 22, 11, 13, 15, 7])
})

test('an item that is too slow by itself fails alone', async () => {
  const slow = new Error('too slow')
  const double = createBatcher<number, number>(
    async (items) => {
      if (items.includes(13)) throw slow
      return items.map((item) => item * 2)
    },
    { sizeMax: 64, isShared: () => false, isTooSlow: (error) => error === slow },
  )
  const results = await Promise.allSettled([1, 2, 13, 4].map(double))
  expect(results).toEqual([
    { status: 'fulfilled', value: 2 },
    { status: 'fulfilled', value: 4 },
    { status: 'rejected', reason: slow },
    { status: 'fulfilled', value: 8 },
  ])
})

test('calls after a failed one are run', async () => {
  const { double } = doubling()
  await expect(double(13)).rejects.toThrow('13 is refused')
  expect(await double(7)).toBe(14)
})

test('a run that returns another number of results fails its batch, so that no caller gets the result of another', async () => {
  const answer = createBatcher<number, number>(async () => [1], { sizeMax: 10, isShared: () => true })
  const results = await Promise.allSettled([1, 2].map(answer))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a batch is sent when gather resolves, with all calls that have arrived until then', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let gathered = 0
  const { double, batches } = doubling({ gather: (send) => void gates[gathered++]?.promise.then(send) })
  const first = double(1)
  await Promise.resolve()
  const second = double(2)
  expect(batches).toEqual([])
  gates[0]?.resolve()
  expect(await Promise.all([first, second])).toEqual([2, 4])
  const third = double(3)
  gates[1]?.resolve()
  expect(await third).toBe(6)
  expect(batches).toEqual([[1, 2], [3]])
})

test('gather receives the size of the last batch', async () => {
  const sizes: number[] = []
  const { double } = doubling({
    gather(send, lastSize) {
      sizes.push(lastSize)
      queueMicrotask(send)
    },
  })
  await Promise.all([1, 2, 3].map(double))
  await double(4)
  await double(5)
  expect(sizes).toEqual([0, 3, 1])
})
