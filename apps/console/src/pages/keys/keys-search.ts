import { flagsIn, oneOf, textsIn, typedIn } from '../../filters/address.ts'
import type { ApiKeyOrder } from '../../generated/graphql.ts'
import { orderIn } from '../../lists/order.ts'

export const STATES = ['active', 'expired', 'revoked', 'all'] as const

/** What the columns of the list are ordered by. */
export const ORDERS = [
  'NAME',
  'CALLS_TODAY',
  'CALLS_THIS_MONTH',
  'TOTAL_CALLS',
  'LAST_USED_AT',
  'EXPIRES_AT',
  'CREATED_AT',
] as const satisfies readonly ApiKeyOrder[]

/** What of the list of keys is in its address. */
export type KeysSearch = ReturnType<typeof keysSearch>

export function keysSearch(search: Record<string, unknown>) {
  return {
    // Part of a name, a prefix, an id or the username of an owner.
    ...typedIn(search),
    ...oneOf(search, 'state', STATES),
    ...textsIn(search, ['owner']),
    ...orderIn(search, ORDERS),
    // `new` opens the dialog for a new key, `expiring` leaves only keys that expire within the days that `key-expiry.ts` names, and
    // `playground` adds the keys of the playground.
    ...flagsIn(search, ['new', 'expiring', 'playground']),
  }
}
