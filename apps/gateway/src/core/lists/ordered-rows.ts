import { Prisma } from '#generated/prisma/client.ts'
import type { Direction, OrderField, Position } from './list-order.ts'

/** The place of a row in an ordered list, as a statement returns it. */
export interface Place {
  readonly id: string
  /** Null where the field is null or the id is the order. */
  readonly value: string | null
}

/** How a statement reads a list in one direction: from its start or, backwards, from its end. */
export interface Reading {
  readonly field: OrderField
  readonly direction: Direction
  readonly isBackward: boolean
}

/** The value of the field, in the form in which a cursor holds it. */
export function valueInSql({ column, kind }: OrderField): Prisma.Sql {
  if (column === undefined) return Prisma.sql`NULL`
  if (kind === 'text') return Prisma.raw(column)
  if (kind === 'count') return Prisma.raw(`(${column})::text`)
  return Prisma.sql`to_char(${Prisma.raw(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Rows without a value come last in both directions, so read backwards they come first. */
export function orderInSql(table: string, reading: Reading): Prisma.Sql {
  const { column } = reading.field
  // Without its table, `id` would be the text that the statement selects, for which no index serves.
  const byId = Prisma.raw(`${table}.id ${stepOf(reading)}`)
  if (column === undefined) return byId
  const direction = Prisma.raw(stepOf(reading))
  if (reading.field.isSet) return Prisma.sql`${Prisma.raw(column)} ${direction}, ${byId}`
  const nulls = Prisma.raw(reading.isBackward ? 'NULLS FIRST' : 'NULLS LAST')
  return Prisma.sql`${Prisma.raw(column)} ${direction} ${nulls}, ${byId}`
}

/** The rows that a reading comes to after a position. */
export function afterInSql(reading: Reading, position: Position | undefined): Prisma.Sql {
  if (position === undefined) return Prisma.sql`true`
  const { field, isBackward } = reading
  const { id, value } = position
  const isBeyond = Prisma.raw(stepOf(reading) === 'desc' ? '<' : '>')
  const hasId = Prisma.sql`id ${isBeyond} ${id}::uuid`
  if (field.column === undefined) return hasId
  const column = Prisma.raw(field.column)
  if (value == null) {
    return isBackward
      ? Prisma.sql`(${column} IS NOT NULL OR ${hasId})`
      : Prisma.sql`(${column} IS NULL AND ${hasId})`
  }
  const at = Prisma.sql`${value}::text::${Prisma.raw(TYPES[field.kind ?? 'text'])}`
  // A comparison of rows is one place in an index.
  if (field.isSet) return Prisma.sql`(${column}, id) ${isBeyond} (${at}, ${id}::uuid)`
  const beyond = Prisma.sql`${column} ${isBeyond} ${at} OR (${column} = ${at} AND ${hasId})`
  return isBackward ? Prisma.sql`(${beyond})` : Prisma.sql`(${beyond} OR ${column} IS NULL)`
}

const TYPES = { text: 'text', count: 'bigint', time: 'timestamptz' } as const

/** The order of {@link orderInSql} for places that were read by several statements. */
export function compareInReading(reading: Reading): (one: Place, other: Place) => number {
  const sign = stepOf(reading) === 'desc' ? -1 : 1
  const lastIfNull = reading.isBackward ? -1 : 1
  return (one, other) => {
    if (one.value === null || other.value === null) {
      const nulls = Number(one.value === null) - Number(other.value === null)
      if (nulls !== 0) return nulls * lastIfNull
    } else {
      const values = compareValues(reading.field, one.value, other.value)
      if (values !== 0) return values * sign
    }
    return Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)) * sign
  }
}

function compareValues({ kind }: OrderField, one: string, other: string): number {
  // Columns with texts have the collation of bytes.
  return kind === 'count' ? Number(one) - Number(other) : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** The direction in which the values pass by. */
export function stepOf({ direction, isBackward }: Reading): Direction {
  if (!isBackward) return direction
  return direction === 'desc' ? 'asc' : 'desc'
}
