import { validate } from 'uuid'
import { fail, refuseField } from '#core/base/errors/errors.ts'

/** The page parameters of REST and the command line. */
export interface PageRequest {
  /** 1 to {@link PAGE_ITEMS_MAX}; 20 by default. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export const PAGE_ITEMS_MAX = 100
export const PAGE_ITEMS_DEFAULT = 20

/**
 * Which rows of a list to read, in the form that Pothos passes to the resolvers of connections. The row at the cursor is
 * never part of the result, so Pothos' `skip` needs no field here. The order is always newest first: UUIDv7 ids sort by
 * time, and every list has an index for that order.
 */
export interface ListQuery {
  /** Maximum number of rows. A negative number reads the rows before the cursor, or the last rows without a cursor. */
  readonly take: number
  readonly cursor?: { readonly id?: string | undefined } | undefined
}

/** The Prisma arguments that read the rows of a {@link ListQuery}. */
export interface Keyset {
  readonly where: { readonly id?: { readonly lt: string } | { readonly gt: string } }
  readonly orderBy: { readonly id: 'asc' | 'desc' }
  readonly take: number
}

/**
 * Reads rows by keyset pagination. A cursor is a position in the order of ids, not a reference to a row: it stays valid when
 * its row is deleted, and does not reveal whether the row exists. Rows are returned newest first, in both directions.
 *
 * @throws Problem `invalid_request`
 */
export async function readList<Row>(
  query: ListQuery,
  read: (keyset: Keyset) => Promise<Row[]>,
): Promise<Row[]> {
  const { take, cursor } = query
  const count = rowsOf(take)
  if (count === 0) return []
  const isBackward = take < 0
  const id = cursor?.id
  if (id !== undefined && !validate(id)) refuseCursor()
  const position = isBackward ? { gt: id ?? '' } : { lt: id ?? '' }
  const rows = await read({
    where: id === undefined ? {} : { id: position },
    orderBy: { id: isBackward ? 'asc' : 'desc' },
    take: count,
  })
  return isBackward ? rows.reverse() : rows
}

/**
 * The number of rows that `take` asks for, in either direction.
 *
 * @throws Problem `invalid_request`
 */
export function rowsOf(take: number): number {
  const count = Math.abs(take)
  // Faces read one row more than a page holds, to learn whether there is a next page.
  if (!Number.isInteger(take) || count > PAGE_ITEMS_MAX + 1) refusePageSize()
  return count
}

/**
 * Reads one page. It reads one row more than the page holds, which shows whether there is a next page without counting.
 *
 * @throws Problem `invalid_request`
 */
export async function readPage<Row extends { id: string }>(
  { limit, cursor }: PageRequest,
  list: (query: ListQuery) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const read = (take: number) =>
    list({ take, ...(cursor !== undefined && { cursor: { id: idOfCursor(cursor) } }) })
  return pageOf(limit, read, ({ id }) => cursorOfId(id))
}

/**
 * Validates the cursor of a list that is ordered by ids, if there is one, without reading the page.
 *
 * @throws Problem `invalid_request`
 */
export function checkCursor(cursor: string | undefined): void {
  if (cursor !== undefined) idOfCursor(cursor)
}

/**
 * Reads one page of a list whose rows have their cursors, like {@link readPage}.
 *
 * @throws Problem `invalid_request`
 */
export async function readOrderedPage<Row extends { cursor: string }>(
  { limit, cursor }: PageRequest,
  list: (query: { take: number; cursor: string | undefined }) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  return pageOf(
    limit,
    (take) => list({ take, cursor }),
    (row) => row.cursor,
  )
}

async function pageOf<Row>(
  limit: number = PAGE_ITEMS_DEFAULT,
  read: (take: number) => Promise<readonly Row[]>,
  cursorOf: (row: Row) => string,
): Promise<Page<Row>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_ITEMS_MAX) refusePageSize()
  const rows = await read(limit + 1)
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}

/** The cursor of a list that is ordered by ids. */
export function cursorOfId(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
}

/** @throws Problem `invalid_request` */
export function idOfCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  // Buffer.from skips characters that are not base64url; encoding the bytes again reveals that.
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) refuseCursor()
  const id = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return validate(id) ? id : refuseCursor()
}

/** Also for faces whose libraries read cursors themselves. */
export const CURSOR_EXPECTED = {
  field: ['cursor'],
  detail: 'expected the cursor of a previous page.',
} as const

export function refuseCursor(): never {
  fail('invalid_request', CURSOR_EXPECTED)
}

function refusePageSize(): never {
  refuseField(['limit'], `expected an integer of 1 to ${PAGE_ITEMS_MAX}.`)
}
