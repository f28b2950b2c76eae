/** How many rows of an export are read at a time. */
export const BATCH_ROWS = 1_000

/**
 * All rows of a list, read in batches. The first batch is read before this resolves, so that errors are thrown before a face
 * has begun its response.
 *
 * @param read - reads the {@link BATCH_ROWS} rows after this one, fewer only at the end
 */
export async function allRows<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): Promise<AsyncIterable<Row>> {
  return followingBatches(await read(undefined), read)
}

async function* followingBatches<Row>(
  first: readonly Row[],
  readAfter: (last: Row) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let rows = first; ; ) {
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_ROWS) return
    rows = await readAfter(last)
  }
}
