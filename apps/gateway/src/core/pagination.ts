import { fail } from './errors.ts'

export interface PageRequest {
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** What a query needs to read a page: newest first, by the order of UUIDv7 ids. */
export interface PageQuery {
  readonly where: { readonly id?: { readonly lt: string } }
  readonly orderBy: { readonly id: 'desc' }
  readonly take: number
}

/** Reads one row more than asked for, which tells whether there is a next page. */
export async function readPage<Row extends { id: string }>(
  { limit, cursor }: PageRequest,
  read: (query: PageQuery) => Promise<Row[]>,
): Promise<Page<Row>> {
  const where = cursor === undefined ? {} : { id: { lt: idOf(cursor) } }
  const rows = await read({ where, orderBy: { id: 'desc' }, take: limit + 1 })
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
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) {
    fail('invalid_request', 'query.cursor: expected the next_cursor of a page before.')
  }
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
