import { type ListQuery, readList } from '#core/requests/input/pagination.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import { validIds } from './valid-ids.ts'

/** Lists that belong to rows of another table, their parents. */
export interface Lists<Row> {
  readonly prisma: PrismaClient
  readonly table: 'api_keys' | 'uploads' | 'calls'
  /** The column with the id of the parent; it must be indexed together with the id of the row. */
  readonly parentColumn: 'owner_id' | 'key_id'
  /** Selects among the rows of the table. */
  readonly where: Prisma.Sql
  /** Reads the page of one list alone in one statement, where there is a way. */
  readOne?(parent: string): Promise<Row[]>
  /** Reads these rows, in any order. */
  readRows(ids: readonly string[]): Promise<Row[]>
}

/** The most rows of one statement. */
const ROWS_MAX = 5_000

/**
 * Reads the same page of the lists of several parents: the ids of all pages in one statement, and their rows in another.
 * Prisma itself would read every row of every list and drop what is not on the pages.
 *
 * @returns the page of each parent, newest first
 * @throws Problem `invalid_request`
 */
export async function readPagesOfLists<Row extends { id: string }>(
  query: ListQuery,
  parents: readonly string[],
  lists: Lists<Row>,
): Promise<Map<string, Row[]>> {
  const known = validIds(parents)
  const pages = new Map(known.map((parent): [string, Row[]] => [parent, []]))
  const [only, ...others] = known
  if (only !== undefined && others.length === 0 && lists.readOne !== undefined) {
    return pages.set(only, await lists.readOne(only))
  }
  const parentsMax = Math.max(1, Math.floor(ROWS_MAX / Math.max(1, Math.abs(query.take))))
  for (let first = 0; first < known.length; first += parentsMax) {
    await addPages(pages, query, known.slice(first, first + parentsMax), lists)
  }
  return pages
}

async function addPages<Row extends { id: string }>(
  pages: ReadonlyMap<string, Row[]>,
  query: ListQuery,
  parents: readonly string[],
  { prisma, table, parentColumn, where, readRows }: Lists<Row>,
): Promise<void> {
  const places = await readList(query, ({ where: { id }, orderBy, take }) => {
    const direction = Prisma.raw(orderBy.id)
    return prisma.$queryRaw<Place[]>`
      SELECT page.id::text, parent.id::text AS parent
      FROM (SELECT value::uuid AS id FROM json_array_elements_text(${JSON.stringify(parents)}::json)) AS parent
      CROSS JOIN LATERAL (
        SELECT id FROM ${Prisma.raw(table)}
        WHERE ${Prisma.raw(parentColumn)} = parent.id AND (${where}) AND ${positionOf(id)}
        ORDER BY id ${direction} LIMIT ${take}
      ) AS page
      ORDER BY page.id ${direction}`
  })
  const rows = await readRows(places.map(({ id }) => id))
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  for (const { id, parent } of places) {
    const row = rowOf.get(id)
    if (row !== undefined) pages.get(parent)?.push(row)
  }
}

interface Place {
  readonly id: string
  readonly parent: string
}

function positionOf(id: { lt: string } | { gt: string } | undefined): Prisma.Sql {
  if (id === undefined) return Prisma.sql`true`
  return 'lt' in id ? Prisma.sql`id < ${id.lt}::uuid` : Prisma.sql`id > ${id.gt}::uuid`
}
