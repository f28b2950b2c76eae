import { inRanges } from '#core/limits/sharing/read-in-slices.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import { rowsOf } from '#core/requests/input/pagination.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import {
  cursorOf,
  DIRECTIONS,
  type OrderChoice,
  type OrderFields,
  type Position,
  positionOf,
} from './list-order.ts'
import {
  afterInSql,
  compareInReading,
  orderInSql,
  type Place,
  type Reading,
  stepOf,
  valueInSql,
} from './ordered-rows.ts'

/** Which rows of an ordered list to read. */
export interface OrderedQuery<Field extends string> extends OrderChoice<Field> {
  /** Maximum number of rows. A negative number reads the rows before the cursor, or the last rows without a cursor. */
  readonly take: number
  /** The cursor of a row of a list in the same order, as the rows of a list have it. */
  readonly cursor?: string | undefined
  /** Aborts when the client is gone. */
  readonly signal?: AbortSignal | undefined
}

/** A row with its cursor. */
export type Listed<Row> = Row & { readonly cursor: string }

/** Rows of a table that are listed in different orders. */
export interface OrderedTable<Field extends string> {
  readonly prisma: PrismaClient
  /** Searches read many rows, so they take turns and are cut into slices like reports. */
  readonly reads: Reads
  readonly table: 'api_keys' | 'users' | 'listed_conversations'
  readonly fields: OrderFields<Field>
}

/** The rows of a list, as a condition in SQL. */
export interface Listing {
  readonly where: Prisma.Sql
  /** Whether the condition is more than what the caller may see. */
  readonly isFiltered: boolean
  /** Whether the whole table is searched, where no index finds the rows of one owner. */
  readonly isOfAll: boolean
  /** Who reads. */
  readonly owner: string
  /** A condition that follows from {@link where}, and whose rows an index finds; of the whole table. */
  readonly narrow?: Prisma.Sql | undefined
}

/** The lists of several parents, which are found by an index. */
export interface Listings extends Listing {
  readonly parents: readonly string[]
  readonly parentColumn: 'owner_id'
}

type Read<Row> = (ids: readonly string[]) => Promise<Row[]>

/**
 * Reads a page of an ordered list: the ids in one statement, and their rows in another.
 *
 * @throws Problem `invalid_request`; `rate_limited` or `unavailable` if too many reads are waiting, `unavailable` if this one
 * takes too long
 */
export async function readOrdered<Row extends { id: string }, Field extends string>(
  table: OrderedTable<Field>,
  query: OrderedQuery<Field>,
  listing: Listing,
  readRows: Read<Row>,
): Promise<Listed<Row>[]> {
  const { field, reading, position } = parseQuery(table, query)
  const take = rowsOf(query.take)
  if (take === 0) return []
  const places = await inTurn(table, { ...listing, isFiltered: true }, query.signal, async (slices) => {
    const isNarrow = await hasFew(table, listing, slices)
    const rows = rowsInSql(table, isNarrow ? listing.narrow : undefined)
    const read = (more: Prisma.Sql) =>
      table.prisma.$queryRaw<Place[]>`
        SELECT id::text, ${valueInSql(reading.field)} AS value FROM ${rows}
        WHERE ${listing.where} AND ${afterInSql(reading, position)} AND ${more}
        ORDER BY ${orderInSql(table.table, reading)} LIMIT ${take}`
    const isById = reading.field.column === undefined
    const start = isById ? position?.id : undefined
    if (isNarrow) return read(Prisma.sql`true`)
    let places: Place[] = []
    for await (const found of inRangesOfIds({ table, slices, reading, start }, read)) {
      // The first rows come in the order of the statement.
      places =
        places.length === 0 ? found : [...places, ...found].sort(compareInReading(reading)).slice(0, take)
      if (isById && places.length === take) break
    }
    return places
  })
  return withCursors(field, reading, places, await readRows(places.map(({ id }) => id)))
}

/** @throws Problem what {@link readOrdered} throws */
export async function countListed<Field extends string>(
  table: OrderedTable<Field>,
  listing: Listing,
  signal?: AbortSignal,
): Promise<number> {
  return inTurn(table, listing, signal, async (slices) => {
    const isNarrow = await hasFew(table, listing, slices)
    const from = rowsInSql(table, isNarrow ? listing.narrow : undefined)
    const count = async (more: Prisma.Sql) => {
      const [row] = await table.prisma.$queryRaw<{ rows: number }[]>`
        SELECT count(*)::int4 AS rows FROM ${from} WHERE ${listing.where} AND ${more}`
      return row?.rows ?? 0
    }
    if (isNarrow) return count(Prisma.sql`true`)
    let counted = 0
    const reading: Reading = { field: { direction: 'desc' }, direction: 'desc', isBackward: false }
    for await (const some of inRangesOfIds({ table, slices, reading }, count)) counted += some
    return counted
  })
}

/**
 * Reads the same page of the ordered lists of several parents, in two statements.
 *
 * @returns the page of each parent
 * @throws Problem what {@link readOrdered} throws
 */
export async function readOrderedLists<Row extends { id: string }, Field extends string>(
  table: OrderedTable<Field>,
  query: OrderedQuery<Field>,
  { parents, parentColumn, ...listing }: Listings,
  readRows: Read<Row>,
): Promise<Map<string, Listed<Row>[]>> {
  const { field, reading, position } = parseQuery(table, query)
  const take = rowsOf(query.take)
  const pages = new Map(parents.map((parent): [string, Listed<Row>[]] => [parent, []]))
  if (take === 0 || parents.length === 0) return pages
  const isSearch = listing.isFiltered || reading.field.column !== undefined
  const places = await inTurn(
    table,
    { ...listing, isFiltered: isSearch, isOfAll: false },
    query.signal,
    () => table.prisma.$queryRaw<(Place & { parent: string })[]>`
      SELECT page.id::text, page.value, parent.parent::text AS parent
      FROM (${idsInSql(parents)}) AS parent (parent)
      CROSS JOIN LATERAL (
        SELECT id, ${valueInSql(reading.field)} AS value FROM ${Prisma.raw(table.table)}
        WHERE ${Prisma.raw(parentColumn)} = parent.parent AND ${listing.where} AND ${afterInSql(reading, position)}
        ORDER BY ${orderInSql(table.table, reading)} LIMIT ${take}
      ) AS page`,
  )
  places.sort(compareInReading(reading))
  const parentOf = new Map(places.map(({ id, parent }) => [id, parent]))
  const rows = await readRows([...parentOf.keys()])
  for (const row of withCursors(field, reading, places, rows)) {
    pages.get(parentOf.get(row.id) ?? '')?.push(row)
  }
  return pages
}

/**
 * How many rows the lists of several parents have; parents without any are left out.
 *
 * @throws Problem what {@link readOrdered} throws
 */
export async function countListedOf<Field extends string>(
  table: OrderedTable<Field>,
  { parents, parentColumn, ...listing }: Listings,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const column = Prisma.raw(parentColumn)
  const counts = await inTurn(
    table,
    { ...listing, isOfAll: false },
    signal,
    () => table.prisma.$queryRaw<{ parent: string; rows: number }[]>`
      SELECT ${column}::text AS parent, count(*)::int4 AS rows FROM ${Prisma.raw(table.table)}
      WHERE ${column} IN (${idsInSql(parents)}) AND ${listing.where} GROUP BY 1`,
  )
  return new Map(counts.map(({ parent, rows }) => [parent, rows]))
}

/** So many rows are read and ordered in a fraction of a second, or of that of an embedded database, where all else waits. */
const FEW = { server: 200_000, embedded: 2_000 } as const

/** Whether the index of the listing finds so few rows that all of them can be read at once. */
async function hasFew<Field extends string>(
  { prisma, table }: OrderedTable<Field>,
  { narrow }: Listing,
  slices: Slices | undefined,
): Promise<boolean> {
  if (narrow === undefined) return false
  const most = slices === undefined ? FEW.server : FEW.embedded
  const count = () => prisma.$queryRaw<{ rows: number }[]>`
    SELECT count(*)::int4 AS rows FROM (SELECT FROM ${Prisma.raw(table)} WHERE ${narrow} LIMIT ${most + 1}) AS found`
  const [row] = await (slices?.run(count) ?? count())
  return row !== undefined && row.rows <= most
}

/**
 * The rows of a table that meet a condition, found before anything else is asked of them. The planner would go through the table in the
 * order of the list, in the hope to find some soon, and would read nearly all of it where they are the oldest.
 */
function rowsInSql<Field extends string>(
  { table }: OrderedTable<Field>,
  narrow: Prisma.Sql | undefined,
): Prisma.Sql {
  const rows = Prisma.raw(table)
  return narrow === undefined ? rows : Prisma.sql`(SELECT * FROM ${rows} WHERE ${narrow} OFFSET 0) AS ${rows}`
}

function idsInSql(ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`SELECT value::uuid FROM json_array_elements_text(${JSON.stringify(ids)}::json)`
}

/**
 * Checks the order and the cursor of a query.
 *
 * @throws Problem `invalid_request`
 */
export function parseQuery<Field extends string>(
  { fields }: Pick<OrderedTable<Field>, 'fields'>,
  { take, cursor, orderBy, order }: OrderedQuery<Field>,
): { field: string; reading: Reading; position: Position | undefined } {
  const names = Object.keys(fields) as [Field, ...Field[]]
  requireOneOf(['orderBy'], names, orderBy)
  requireOneOf(['order'], DIRECTIONS, order)
  const name = orderBy ?? names[0]
  const field = fields[name]
  return {
    field: name,
    reading: { field, direction: order ?? field.direction, isBackward: take < 0 },
    position: cursor === undefined ? undefined : positionOf(name, field, cursor),
  }
}

/** Puts rows into the order of their places; those that are gone are left out. */
function withCursors<Row extends { id: string }>(
  name: string,
  { field, isBackward }: Reading,
  places: readonly Place[],
  rows: readonly Row[],
): Listed<Row>[] {
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  const listed = places.flatMap(({ id, value }) => {
    const row = rowOf.get(id)
    const position = field.column === undefined ? { id } : { id, value }
    return row === undefined ? [] : [{ ...row, cursor: cursorOf(name, position) }]
  })
  return isBackward ? listed.reverse() : listed
}

async function inTurn<Field extends string, Result>(
  { reads }: Pick<OrderedTable<Field>, 'reads'>,
  { owner, isFiltered, isOfAll }: Omit<Listing, 'where'>,
  signal: AbortSignal | undefined,
  read: (slices: Slices | undefined) => Promise<Result>,
): Promise<Result> {
  if (!isFiltered) return read(undefined)
  // The rows of one owner are found by an index, and are few enough for one statement.
  return reads.inTurn({ owner, signal }, (slices) => read(isOfAll ? slices : undefined))
}

interface Ranging<Field extends string> {
  readonly table: OrderedTable<Field>
  readonly slices: Slices | undefined
  readonly reading: Reading
  /** The id after which the first range begins. */
  readonly start?: string | undefined
}

/** Reads ranges of ids with a bounded number of rows each, in the order of the reading, by conditions for them. */
function inRangesOfIds<Field extends string, Result>(
  { table: { prisma, table }, slices, reading, start }: Ranging<Field>,
  read: (ids: Prisma.Sql) => Promise<Result>,
): AsyncGenerator<Result> {
  const step = stepOf(reading)
  const [isBeyond, isWithin] = step === 'desc' ? ['<', '>='] : ['>', '<=']
  const idIs = (operator: string, id: string | undefined) =>
    id === undefined ? Prisma.sql`true` : Prisma.sql`id ${Prisma.raw(operator)} ${id}::uuid`
  const next = async (from: string | undefined, rowsMax: number) => {
    const [row] = await prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM ${Prisma.raw(table)} WHERE ${idIs(isBeyond, from)}
      ORDER BY ${Prisma.raw(`${table}.id ${step}`)} OFFSET ${rowsMax} LIMIT 1`
    return row?.id
  }
  return inRanges(slices, { start, next }, (from, to) =>
    read(Prisma.sql`${idIs(isBeyond, from)} AND ${idIs(isWithin, to)}`),
  )
}
