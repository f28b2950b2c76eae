/** How many rows of an export are read at a time. */
export const BATCH_ROWS = 1_000

/**
 * All rows of a list, read in batches. The first batch is read before this resolves, so that errors are thrown before a face
 * has begun its response.
 *
 * @param read - reads the next `batchRows` rows after this one, fewer only at the end
 */
export async function allRows<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  batchRows = BATCH_ROWS,
): Promise<AsyncIterable<Row>> {
  return followingBatches(await read(undefined), read, batchRows)
}

async function* followingBatches<Row>(
  first: readonly Row[],
  readAfter: (last: Row) => Promise<readonly Row[]>,
  batchRows: number,
): AsyncGenerator<Row> {
  for (let rows = first; ; ) {
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    rows = await readAfter(last)
  }
}
