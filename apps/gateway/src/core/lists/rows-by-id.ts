import type { Sql } from '#core/database/database.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'

/*
 * Lists of rows that are only added, such as calls, newest first. Their ids are UUIDs of version 7, which begin with the time,
 * so that a range of times is a range of ids. On an embedded database a bounded number of rows is searched at a time: with a
 * filter that matches few rows, a single statement would read the whole table and block the database meanwhile.
 */

/** Which page of a list to read, newest first; lists of what is only added go forwards only. */
export interface ForwardPage {
  /** The most rows. Faces read one more than a page holds, to learn whether there is a next page. */
  readonly take: number
  /** That of the last row of the page before. */
  readonly cursor?: string | undefined
}

/** The rows that a reader may see, before any filter but that of the time. */
export interface RowsById {
  readonly sql: Sql
  /** Undefined on a server, where one statement reads all. */
  readonly slices: Slices | undefined
  readonly table: 'calls' | 'refusals'
  /** The column and the value that all rows must have; together with the id they have an index. */
  readonly owner?: { readonly column: 'owner_id' | 'key_id'; readonly id: string } | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** Ids from `gte` on and below `lt`. */
export interface IdRange {
  readonly gte?: string
  readonly lt?: string
}

/**
 * Reads the newest rows below a cursor.
 *
 * @param find - reads at most `takeMax` rows of the range, newest first; it adds the reader's filter
 */
export async function readNewest<Row extends { id: string }>(
  rows: RowsById,
  { before, take }: { readonly before?: string | undefined; readonly take: number },
  find: (range: IdRange, takeMax: number) => Promise<Row[]>,
): Promise<Row[]> {
  const { slices } = rows
  if (slices === undefined) return find(before === undefined ? {} : { lt: before }, take)
  const found: Row[] = []
  for await (const { first, end } of slicesOf({ ...rows, slices }, before)) {
    while (found.length < take) {
      const lt = found.at(-1)?.id ?? end
      const some = await slices.run(async (rowsMax) => {
        const takeMax = Math.min(take - found.length, rowsMax)
        return { rows: await find({ gte: first, lt: leastId(lt, end) }, takeMax), takeMax }
      })
      found.push(...some.rows)
      if (some.rows.length < some.takeMax) break
    }
    if (found.length >= take) break
  }
  return found
}

/** Larger counts are not exact anywhere, because an exact one would read the whole table. */
export const COUNT_MAX = 10_000

/**
 * The number of rows; null if there are more than {@link COUNT_MAX}.
 *
 * @param count - counts the rows of the range, and ends at `countMax`; it adds the reader's filter
 */
export async function countRows(
  rows: RowsById,
  count: (range: IdRange, countMax: number) => Promise<number>,
): Promise<number | null> {
  const { slices } = rows
  let counted = 0
  if (slices === undefined) counted = await count({}, COUNT_MAX + 1)
  else {
    for await (const { first, end } of slicesOf({ ...rows, slices })) {
      counted += await slices.run(() => count({ gte: first, lt: end }, COUNT_MAX + 1))
      if (counted > COUNT_MAX) break
    }
  }
  return counted > COUNT_MAX ? null : counted
}

/** Ranges of ids, newest first, that contain a bounded number of rows each. */
async function* slicesOf(
  { sql, slices, from, to, ...rows }: RowsById & { readonly slices: Slices },
  cursor?: string,
): AsyncGenerator<{ first: string; end: string }> {
  const last = from === undefined ? LEAST_ID : idAt(from, -DAY_MS)
  let end = leastId(cursor, to === undefined ? GREATEST_ID : idAt(to, DAY_MS))
  while (end > last) {
    const first = await slices.run(async (rowsMax) => {
      const owner = rows.owner === undefined ? [] : [rows.owner.id]
      const [row] = await sql.query<{ id: string }>(boundaryOf(rows), [end, rowsMax, ...owner])
      return row === undefined || row.id < last ? last : row.id
    })
    yield { first, end }
    end = first
  }
}

const LEAST_ID = '00000000-0000-0000-0000-000000000000'
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function leastId(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other
}

/** Selects the row that is `$2` rows before `$1`. An index-only scan suffices for it. */
function boundaryOf({ table, owner }: Pick<RowsById, 'table' | 'owner'>): string {
  const mine = owner === undefined ? '' : `AND ${owner.column} = $3::uuid`
  return `SELECT id::text FROM ${table} WHERE id < $1::uuid ${mine} ORDER BY id DESC OFFSET $2 LIMIT 1`
}

const DAY_MS = 86_400_000

/**
 * The ids of the rows of a range of times. The day of slack covers rows whose process had not yet synchronized its clock with
 * the database's.
 */
export function idsBetween(from: Date | undefined, to: Date | undefined): IdRange {
  return { ...(from && { gte: idAt(from, -DAY_MS) }), ...(to && { lt: idAt(to, DAY_MS) }) }
}

/** The smallest UUID of version 7 whose time is this moment, moved by `slackMs`. */
function idAt(moment: Date, slackMs: number): string {
  const hex = Math.max(0, moment.getTime() + slackMs)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
