import { validate } from 'uuid'
import { cursorOfId, idOfCursor, refuseCursor } from '#core/requests/input/pagination.ts'
import { parseTimestamp } from '#core/requests/input/timestamp.ts'

export const DIRECTIONS = ['asc', 'desc'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** What callers choose of the order of a list. */
export interface OrderChoice<Field extends string> {
  /** `created_at` by default. */
  readonly orderBy?: Field | undefined
  /** The direction of the field by default. */
  readonly order?: Direction | undefined
}

/** A field by which a list can be ordered. Rows with the same value are ordered by their ids, in the same direction. */
export interface OrderField {
  /**
   * The column in SQL, or an expression of columns of the row; without one, rows are ordered by their ids alone, which begin with
   * the time of creation.
   */
  readonly column?: string
  /** A text or a count that every row has, or a time that may be null. */
  readonly kind?: 'text' | 'count' | 'time'
  /** The direction if the caller names none. */
  readonly direction: Direction
  /** Whether every row has a value, so that an index in this order serves. Texts and counts need no such index so far. */
  readonly isSet?: true
}

export type OrderFields<Field extends string> = Readonly<Record<Field, OrderField>>

/** A place in an ordered list. It stays where it is if its row changes or is deleted. */
export interface Position {
  readonly id: string
  /** The value of the field; null for a row without one, and undefined where the id is the order. */
  readonly value?: string | null | undefined
}

/** The cursor of a position. It belongs to the field of the order, and is valid for every direction and every filter. */
export function cursorOf(field: string, { id, value }: Position): string {
  if (value === undefined) return cursorOfId(id)
  return Buffer.from(JSON.stringify([field, value, id])).toString('base64url')
}

/** The most characters of a cursor: that of a name whose 100 characters take twelve bytes each, in the base64 of its JSON. */
export const CURSOR_LENGTH_MAX = 2_000

/** @throws Problem `invalid_request` for anything but a cursor of a list in the same order */
export function positionOf(field: string, { column, kind }: OrderField, cursor: string): Position {
  if (column === undefined) return { id: idOfCursor(cursor) }
  if (cursor.length > CURSOR_LENGTH_MAX) refuseCursor()
  const [name, value, id] = partsOf(cursor)
  if (name !== field || typeof id !== 'string' || !validate(id)) return refuseCursor()
  if (!isValue(kind, value)) return refuseCursor()
  const position = { id: id.toLowerCase(), value }
  // One place has one cursor, so another text for it is forged, such as one with spaces in the JSON or an id in capitals.
  return cursorOf(field, position) === cursor ? position : refuseCursor()
}

function partsOf(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : refuseCursor()
  } catch {
    return refuseCursor()
  }
}

function isValue(kind: OrderField['kind'], value: unknown): value is string | null {
  switch (kind) {
    case 'time':
      return value === null || isTime(value)
    case 'count':
      return isCount(value)
    default:
      return isText(value)
  }
}

/** The form of a number that the faces show, which PostgreSQL can always read as a bigint. */
function isCount(value: unknown): value is string {
  return typeof value === 'string' && /^(0|[1-9]\d{0,15})$/.test(value) && Number.isSafeInteger(Number(value))
}

/** The form of `Date.toISOString`, whose order as a text is that of the times, in the years that callers may name. */
function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseTimestamp(value)?.toISOString() === value
}

/** PostgreSQL cannot store a NUL, and no name has any other of these characters. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/[\p{Cc}\p{Cs}]/u.test(value)
}
