import { isDeepStrictEqual } from 'node:util'
import type { Columns } from '#core/database/columns-of.ts'

/** What Pothos asks for at a field. */
export type RowQuery = Columns<object, object>

/** One query for the columns of two; undefined if they cannot be read together, such as a relation with two filters. */
export function columnsOfBoth(one: RowQuery, other: RowQuery): RowQuery | undefined {
  if (isDeepStrictEqual(one, other)) return one
  const { select: ofOne, ...rest } = one
  const { select: ofOther, ...otherRest } = other
  // Without a selection all columns are read, which is more than the two ask for together.
  if (ofOne === undefined || ofOther === undefined || !isDeepStrictEqual(rest, otherRest)) return undefined
  const select = selectionOfBoth(ofOne, ofOther)
  return select && { ...rest, select }
}

function selectionOfBoth(one: object, other: object): object | undefined {
  const all = new Map<string, unknown>(Object.entries(one))
  for (const [name, value] of Object.entries(other)) {
    const known = all.get(name)
    const both = known === undefined ? value : selectedByBoth(known, value)
    if (both === undefined) return undefined
    all.set(name, both)
  }
  return Object.fromEntries(all)
}

/** A column is selected by true, and the columns of a relation by a query. */
function selectedByBoth(one: unknown, other: unknown): unknown {
  if (one === other) return one
  return isQuery(one) && isQuery(other) ? columnsOfBoth(one, other) : undefined
}

function isQuery(value: unknown): value is RowQuery {
  return typeof value === 'object' && value !== null
}
