import { type Batcher, createBatcher } from '#core/async/batcher.ts'

/** Reads rows by the ids of what they belong to, of which none comes twice. */
export type ReadMany<Row> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>

/** The most ids in one statement. */
const IDS_MAX = 1_000

/** A batch is what the resolvers of one level ask for, which may take them some rounds of microtasks. */
const gather = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Looks up rows by ids, those of one level of an operation together; null for each that is not there. */
export function batched<Row>(read: ReadMany<Row>): Batcher<string, Row | null> {
  const readAll = async (ids: readonly string[]) => {
    const rows = await read([...new Set(ids)])
    return ids.map((id) => rows.get(id) ?? null)
  }
  return createBatcher(readAll, { sizeMax: IDS_MAX, isShared: () => true, gather })
}

/** One batch for each different argument, since one statement reads the same columns of all its rows. */
export function batchedBy<Argument, Row>(readOf: (argument: Argument) => ReadMany<Row>) {
  const batches = new Map<string, Batcher<string, Row | null>>()
  return (id: string, argument: Argument): Promise<Row | null> => {
    const name = JSON.stringify(argument)
    const batch = batches.get(name) ?? batched(readOf(argument))
    batches.set(name, batch)
    return batch(id)
  }
}
