import { validate } from 'uuid'
import { cursorOfId, idOfCursor, refuseCursor } from '#core/input/pagination.ts'

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
  /** The column in SQL; without one, rows are ordered by their ids alone, which begin with the time of creation. */
  readonly column?: string
  readonly kind?: 'text' | 'time'
  /** The direction if the caller names none. */
  readonly direction: Direction
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
  if (column === undefined) {
    const id = idOfCursor(cursor)
    return validate(id) ? { id } : refuseCursor()
  }
  if (cursor.length > CURSOR_LENGTH_MAX) refuseCursor()
  const parts = partsOf(cursor)
  const [name, value, id] = parts ?? []
  if (parts?.length !== 3 || name !== field || typeof id !== 'string' || !validate(id)) return refuseCursor()
  if (value !== null && (typeof value !== 'string' || !(kind === 'time' ? isTime(value) : isText(value)))) {
    return refuseCursor()
  }
  return { id: id.toLowerCase(), value }
}

function partsOf(cursor: string): readonly unknown[] | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Buffer.from skips characters that are not base64url; encoding the bytes again reveals that.
  if (bytes.toString('base64url') !== cursor) return undefined
  try {
    const parts: unknown = JSON.parse(bytes.toString())
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}

/** The form of `Date.toISOString`, whose order as a text is that of the times. */
function isTime(value: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) && !Number.isNaN(Date.parse(value))
}

/** PostgreSQL cannot store a NUL, and no name has any other of these characters. */
function isText(value: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(value)
}
