import type { Sql } from '#core/database/database.ts'
import { inRanges } from '#core/limits/sharing/read-in-slices.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'

/*
 * Lists of rows that are only added, such as calls, newest first. Their ids are UUIDs of version 7, which begin with the time,
 * so that a range of times is a range of ids. On an embedded database a bounded number of rows is searched at a time: with a
 * filter that matches few rows, a single statement would read the whole table and hold up all others meanwhile.
 */

/** The rows that a reader may see, before any filter but that of the time. */
export interface RowsById {
  readonly sql: Sql
  readonly slices: Slices | undefined
  readonly table: 'calls' | 'refusals'
  /** Columns, and the values that all rows must have in them; together with the id they have an index. */
  readonly columns?: Readonly<Record<string, string>> | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** Ids from `gte` on and below `lt`. */
export interface IdRange {
  readonly gte?: string
  readonly lt?: string
}

/** Reads ranges of ids below a cursor, newest first, that contain a bounded number of rows each. */
export function inRangesOfIds<Result>(
  { sql, slices, table, columns = {}, from, to }: RowsById,
  before: string | undefined,
  read: (range: IdRange) => Promise<Result>,
): AsyncGenerator<Result> {
  const { gte: first, lt: end } = idsBetween(from, to)
  // An index-only scan suffices. Without its table, `id` would be the text that is selected, and all rows would be sorted.
  const conditions = Object.keys(columns).map((column, n) => ` AND ${column} = $${n + 3}`)
  const boundary = `SELECT id::text FROM ${table}
    WHERE id < $1::uuid${conditions.join('')}
    ORDER BY ${table}.id DESC OFFSET $2 LIMIT 1`
  const next = async (below: string = GREATEST_ID, rowsMax: number) => {
    const [row] = await sql.query<{ id: string }>(boundary, [below, rowsMax, ...Object.values(columns)])
    return row === undefined || (first !== undefined && row.id <= first) ? undefined : row.id
  }
  const start = before !== undefined && (end === undefined || before < end) ? before : end
  return inRanges(slices, { start, next }, (below, least) =>
    read({ ...(least && { gte: least }), ...(below && { lt: below }) }),
  )
}

const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

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
