/** Runs items in batches: what arrives while one batch is under way goes into the next. */
export interface Coalescer<Item, Result> {
  (item: Item): Promise<Result>
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>
}

export interface CoalesceOptions {
  readonly sizeMax: number
  /** Tells the failures that concern the whole batch (a lost connection), which halving cannot mend. */
  readonly isShared: (error: unknown) => boolean
  /** Resolves when the next batch is to go; left out, what the same turn of the microtasks brings travels together. */
  readonly gather?: () => Promise<void>
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * One statement for many calls is what keeps a database in the path of every call affordable.
 * A batch that fails is halved until the item that fails stands alone, so that one bad value does not fail the others.
 */
export function coalesce<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { sizeMax, isShared, gather = () => Promise.resolve() }: CoalesceOptions,
): Coalescer<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  let pumping: Promise<void> | undefined

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      await gather()
      const batch = waiting.length > sizeMax ? waiting.splice(0, sizeMax) : waiting
      if (batch === waiting) waiting = []
      await settle(batch)
    }
    pumping = undefined
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      if (results.length !== batch.length) throw new Error('a batch answered another number of items')
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      if (batch.length === 1 || isShared(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const half = batch.length >> 1
      await settle(batch.slice(0, half))
      await settle(batch.slice(half))
    }
  }

  const enqueue = (item: Item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      pumping ??= pump()
    })

  return Object.assign(enqueue, {
    async idle() {
      while (pumping !== undefined) await pumping
    },
  })
}
