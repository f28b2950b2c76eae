import type { OrderDirection } from '../generated/graphql.ts'

/** What the gateway orders a list by. The names of fields are those of its enumerations. */
export interface Order<Field extends string> {
  readonly field: Field
  readonly direction: OrderDirection
}

export const NEWEST_FIRST = { field: 'CREATED_AT', direction: 'DESC' } as const

/** How an address writes an order: `name`, or `-name` from the last to the first. */
export function orderText<Field extends string>({ field, direction }: Order<Field>): string {
  return `${direction === 'DESC' ? '-' : ''}${field.toLowerCase()}`
}

/** The order that an address names; undefined for the one of the gateway. */
export function orderOf<Field extends string>(
  text: string | undefined,
  fields: readonly Field[],
): Order<Field> | undefined {
  const isDescending = text?.startsWith('-') === true
  const field = fields.find((name) => name.toLowerCase() === text?.slice(isDescending ? 1 : 0))
  return field && { field, direction: isDescending ? 'DESC' : 'ASC' }
}

/** The part of an address that names a known order. */
export function orderIn(
  search: Record<string, unknown>,
  fields: readonly string[],
): { readonly order?: string | undefined } {
  const order = orderOf(typeof search.order === 'string' ? search.order : undefined, fields)
  return order === undefined ? {} : { order: orderText(order) }
}

/** The order after a press on the head of a column: the other direction, or the column in its own one. */
export function nextOrder<Field extends string>(
  current: Order<Field> | undefined,
  pressed: Order<Field>,
): Order<Field> {
  if (current?.field !== pressed.field) return pressed
  return { field: pressed.field, direction: current.direction === 'ASC' ? 'DESC' : 'ASC' }
}
