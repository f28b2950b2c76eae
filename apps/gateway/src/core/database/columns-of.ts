/** The columns and relations to read, in the form that Pothos passes to a resolver. */
export interface Columns<Select, Include> {
  readonly select?: Select | undefined
  readonly include?: Include | undefined
}

/**
 * Picks `select` and `include` from a query, so that a `where` or `skip` that a face passes along cannot reach a statement.
 * Without either, Prisma reads the whole row.
 */
export function columnsOf<Select, Include>({
  select,
  include,
}: Columns<Select, Include>): { select?: Select; include?: Include } {
  return { ...(select !== undefined && { select }), ...(include !== undefined && { include }) }
}
