/** The most calls of one statement. */
const CALLS_AT_ONCE = 1_000

/** Runs a statement for as many items at a time as it takes. */
export async function inPortions<Item, Row>(
  items: readonly Item[],
  run: (some: readonly Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < items.length; at += CALLS_AT_ONCE)
    rows.push(...(await run(items.slice(at, at + CALLS_AT_ONCE))))
  return rows
}

/** The calls of `$1`, each looked up by its index because of the limit, whatever the planner knows of the table. */
export const GIVEN = `
FROM unnest($1::uuid[]) AS given(id)
CROSS JOIN LATERAL (SELECT * FROM kept_calls WHERE call_id = given.id LIMIT 1) AS k`
