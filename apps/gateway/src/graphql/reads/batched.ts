import { type Batcher, createBatcher } from '#core/base/async/batcher.ts'
import { columnsOfBoth, type RowQuery } from './columns-of-both.ts'

/** Reads rows by the ids of what they belong to, of which none comes twice. */
export type ReadMany<Row> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>

/** The most ids in one statement. */
const IDS_MAX = 1_000

/** A batch is what the resolvers of one level ask for, which may take them some rounds of microtasks. */
const gather = (send: () => void) => void setImmediate(send)

/** Looks up rows by ids, those of one level of an operation together; null for each that is not there. */
export function batched<Row>(read: ReadMany<Row>): Batcher<string, Row | null> {
  const readAll = async (ids: readonly string[]) => {
    const rows = await read([...new Set(ids)])
    return ids.map((id) => rows.get(id) ?? null)
  }
  return createBatcher(readAll, { sizeMax: IDS_MAX, isShared: () => true, gather })
}

/** One batch for each different argument, since one statement reads the same columns of all its rows. */
export function batchedBy<Argument, Row>(
  readOf: (argument: Argument) => ReadMany<Row>,
  /** The part of the argument that makes a difference. */
  differing: (argument: Argument) => unknown = (argument) => argument,
) {
  const batches = new Map<string, Batcher<string, Row | null>>()
  return (id: string, argument: Argument): Promise<Row | null> => {
    const name = JSON.stringify(differing(argument))
    const batch = batches.get(name) ?? batched(readOf(argument))
    batches.set(name, batch)
    return batch(id)
  }
}

/**
 * Looks up rows by ids, those of one level of an operation in one statement, with the columns that any of the queries selects:
 * aliases that select different columns cost no more than those that select the same.
 */
export function batchedRows<Row extends { readonly id: string }>(
  read: (ids: readonly string[], query: RowQuery) => Promise<readonly Row[]>,
) {
  const readAll = async (asked: readonly AskedRow[]): Promise<(Row | null)[]> => {
    const reads: { query: RowQuery; readonly ids: Set<string> }[] = []
    const readOf = asked.map(({ id, query }) => {
      for (const [index, known] of reads.entries()) {
        const both = columnsOfBoth(known.query, query)
        if (both === undefined) continue
        known.query = both
        known.ids.add(id)
        return index
      }
      return reads.push({ query, ids: new Set([id]) }) - 1
    })
    const found: ReadonlyMap<string, Row>[] = []
    for (const { ids, query } of reads) {
      found.push(new Map((await read([...ids], query)).map((row) => [row.id, row])))
    }
    return asked.map(({ id }, index) => found[readOf[index] ?? 0]?.get(id) ?? null)
  }
  const rowOf = createBatcher(readAll, { sizeMax: IDS_MAX, isShared: () => true, gather })
  // Rows name their ids in lower case, however the caller writes them.
  return (id: string, query: RowQuery): Promise<Row | null> => rowOf({ id: id.toLowerCase(), query })
}

interface AskedRow {
  readonly id: string
  readonly query: RowQuery
}
