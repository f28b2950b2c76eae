/** Which columns and relations to read with a row, in the form that Pothos passes to a resolver. */
export interface Columns<Select, Include> {
  readonly select?: Select | undefined
  readonly include?: Include | undefined
}

/**
 * The columns of a query and nothing else of it, so that no `where` or `skip` that a face passes along reaches a statement.
 * Without any, Prisma reads the whole row.
 */
export function columnsOf<Select, Include>({
  select,
  include,
}: Columns<Select, Include>): { select?: Select; include?: Include } {
  return { ...(select !== undefined && { select }), ...(include !== undefined && { include }) }
}
