import { type OrderFields, positionOf } from '#core/lists/list-order.ts'
import { checkCursor } from '#core/requests/input/pagination.ts'
import type { SoundRequest } from './validation.ts'

type SoundQuery = Pick<SoundRequest, 'query'>

/** The rules for a page of a list that its schema cannot express. */
export function judgePage(_request: unknown, { query }: SoundQuery): void {
  const { cursor } = (query ?? {}) as { readonly cursor?: string | undefined }
  checkCursor(cursor)
}

/** The same for a list in an order that the caller chooses, to which its cursor belongs. */
export function judgeList<Field extends string>(fields: OrderFields<Field>) {
  const [first] = Object.keys(fields) as Field[]
  return (_request: unknown, { query }: SoundQuery): void => {
    const { cursor, order_by: field = first } = (query ?? {}) as {
      readonly cursor?: string | undefined
      readonly order_by?: Field | undefined
    }
    if (cursor !== undefined && field !== undefined) positionOf(field, fields[field], cursor)
  }
}
