import { type Keyset, readList } from '#core/requests/input/pagination.ts'
import { cursorOf, type OrderFields } from './list-order.ts'
import { type Listed, type OrderedQuery, parseQuery } from './ordered-lists.ts'

/**
 * Reads a page of a list without a filter in the order of ids, in one statement through an index, which needs no turn.
 *
 * @returns undefined for any other list, which is searched by `readOrdered`
 * @throws Problem `invalid_request`
 */
export function readPlain<Row extends { id: string }, Field extends string>(
  fields: OrderFields<Field>,
  query: OrderedQuery<Field>,
  isFiltered: boolean,
  read: (keyset: Keyset) => Promise<Row[]>,
): Promise<Listed<Row>[]> | undefined {
  const { field, reading, position } = parseQuery({ fields }, query)
  if (isFiltered || reading.field.column !== undefined) return undefined
  return readNewestFirst()

  async function readNewestFirst() {
    const isOldestFirst = reading.direction === 'asc'
    const take = isOldestFirst ? -query.take : query.take
    const rows = await readList({ take, cursor: position }, read)
    const listed = rows.map((row) => ({ ...row, cursor: cursorOf(field, { id: row.id }) }))
    return isOldestFirst ? listed.reverse() : listed
  }
}
