/** Runs an item in a batch. Items that arrive while one batch runs form the next. */
export type Batcher<Item, Result> = (item: Item) => Promise<Result>

export interface BatcherOptions {
  readonly sizeMax: number
  /** Whether a failure concerns the whole batch, such as a lost connection, so that smaller batches would fail as well. */
  readonly isShared: (error: unknown) => boolean
  /**
   * Whether a batch failed because it took too long. It is then run again in smaller ones, and later batches stay smaller
   * until they have succeeded, because a batch of the full size would fail again, each time after the whole timeout.
   */
  readonly isTooSlow?: (error: unknown) => boolean
  /**
   * Calls `send` when the next batch shall run, given the size of the last one. By default a batch holds what arrives in the
   * same turn of the microtasks.
   */
  readonly gather?: (send: () => void, lastSize: number) => void
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly reply: PromiseWithResolvers<Result>
}

/** After a batch that was too slow, each success lets the next batch grow by this share of the maximum size. */
const GROWTH = 1 / 32

/**
 * Collects items and runs them in batches, because one statement for many calls makes a database in the path of every call
 * affordable. A batch that fails is halved until the failing item is alone, so that one bad value does not fail the others.
 * The result of an item may be a promise, for which the next batch does not wait.
 */
export function createBatcher<Item>(
  run: (items: readonly Item[]) => Promise<void>,
  options: BatcherOptions,
): Batcher<Item, void>
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly (Result | PromiseLike<Result>)[]>,
  options: BatcherOptions,
): Batcher<Item, Result>
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<unknown>,
  { sizeMax, isShared, isTooSlow = () => false, gather = queueMicrotask }: BatcherOptions,
): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isBusy = false
  let lastSize = 0
  let size = sizeMax

  async function send(): Promise<void> {
    const batch = waiting.length > size ? waiting.splice(0, size) : waiting
    if (batch === waiting) waiting = []
    lastSize = batch.length
    try {
      await settle(batch)
    } catch (error) {
      // What is rejected here has no result yet, nor would it get one.
      for (const { reply } of [...batch, ...waiting.splice(0)]) reply.reject(error)
    }
    if (waiting.length > 0) gather(send, lastSize)
    else isBusy = false
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = (await run(batch.map(({ item }) => item))) as readonly Result[] | undefined
      if (results !== undefined && results.length !== batch.length)
        throw new Error('a batch returned another number of results')
      if (size < sizeMax) size = Math.min(sizeMax, size + Math.ceil(sizeMax * GROWTH))
      for (const [index, { reply }] of batch.entries()) reply.resolve(results?.[index] as Result)
    } catch (error) {
      if (batch.length === 1 || isShared(error)) {
        for (const { reply } of batch) reply.reject(error)
        return
      }
      const half = batch.length >> 1
      if (isTooSlow(error)) {
        size = half
        waiting = [...batch, ...waiting]
        return
      }
      await settle(batch.slice(0, half))
      await settle(batch.slice(half))
    }
  }

  return (item) => {
    const reply = Promise.withResolvers<Result>()
    waiting.push({ item, reply })
    if (!isBusy) {
      isBusy = true
      gather(send, lastSize)
    }
    return reply.promise
  }
}
