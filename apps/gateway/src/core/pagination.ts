import { validate } from 'uuid'
import { refuseField } from './errors.ts'

/** A page as REST and the command line ask for it. */
export interface PageRequest {
  /** 1 to {@link PAGE_ITEMS_MAX}; 20 by default. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export const PAGE_ITEMS_MAX = 100
const PAGE_ITEMS_DEFAULT = 20

/**
 * Which rows of a list to read, in the form that Pothos' connections pass to their resolvers. The row at the cursor is
 * never part of the answer, so Pothos' `skip` needs no field here; the order is always newest first, which is the order of
 * UUIDv7 ids and the one that every list has an index for.
 */
export interface ListQuery {
  /** How many rows at most; negative for the rows before the cursor (or the last ones). */
  readonly take: number
  readonly cursor?: { readonly id?: string | undefined } | undefined
}

/** What a statement needs in order to read the rows of a {@link ListQuery}. */
export interface Keyset {
  readonly where: { readonly id?: { readonly lt: string } | { readonly gt: string } }
  readonly orderBy: { readonly id: 'asc' | 'desc' }
  readonly take: number
}

/**
 * Reads the rows of a list by keyset: a cursor names a position among the ids rather than a row, so it stays valid when its
 * row is deleted, and says nothing about whether that row exists.
 *
 * @throws Problem `invalid_request`
 */
export async function readList<Row>(
  query: ListQuery,
  read: (keyset: Keyset) => Promise<Row[]>,
): Promise<Row[]> {
  const { take, cursor } = query
  const count = Math.abs(take)
  // One more than a page holds, which tells whether there is a next one.
  if (!Number.isInteger(take) || count > PAGE_ITEMS_MAX + 1) refusePageSize()
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

/** Reads one page from a list: one row more than asked for tells whether there is a next page. */
export async function readPage<Row extends { id: string }>(
  { limit = PAGE_ITEMS_DEFAULT, cursor }: PageRequest,
  list: (query: ListQuery) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_ITEMS_MAX) refusePageSize()
  const rows = await list({ take: limit + 1, ...(cursor !== undefined && { cursor: { id: idOf(cursor) } }) })
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last.id) : null }
}

function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
}

function idOf(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  // Encoded again, it shows what the lenient decoder skipped.
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) refuseCursor()
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function refuseCursor(): never {
  refuseField(['cursor'], 'expected the cursor of a page before.')
}

function refusePageSize(): never {
  refuseField(['limit'], `expected an integer of 1 to ${PAGE_ITEMS_MAX}.`)
}
