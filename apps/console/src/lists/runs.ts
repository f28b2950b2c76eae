export type Run<Row> = readonly [Row, ...Row[]]

/** The rows in runs: those that follow each other and are alike in what `of` says of them. */
export function runs<Row>(rows: readonly Row[], of: (row: Row) => unknown): readonly Run<Row>[] {
  const found: [Row, ...Row[]][] = []
  for (const row of rows) {
    const last = found.at(-1)
    if (last !== undefined && of(last[0]) === of(row)) last.push(row)
    else found.push([row])
  }
  return found
}
