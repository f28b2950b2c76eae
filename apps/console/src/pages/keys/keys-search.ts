import { oneOf, textsIn } from '../../filters/address.ts'
import type { ApiKeyOrder } from '../../generated/graphql.ts'
import { orderIn } from '../../lists/order.ts'

export const STATES = ['active', 'expired', 'revoked', 'all'] as const
export type ShownState = (typeof STATES)[number]

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
export interface KeysSearch {
  /** Opens the dialog for a new key. */
  readonly new?: true | undefined
  /** Only keys with this in their name, prefix or id, or the username of their owner. */
  readonly search?: string | undefined
  /** By default those that can be used. */
  readonly state?: ShownState | undefined
  /** Only keys that expire within the days that `key-expiry.ts` names. */
  readonly expiring?: true | undefined
  /** The id of the user to whom they belong. */
  readonly owner?: string | undefined
  /** Also the keys of the playground. */
  readonly playground?: true | undefined
  readonly order?: string | undefined
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const isSet = (name: string) => search[name] === true || search[name] === 'true'
  const { search: text } = search
  return {
    // What is being typed may end with a space.
    ...((typeof text === 'string' || typeof text === 'number') && { search: String(text) }),
    ...oneOf(search, 'state', STATES),
    ...textsIn(search, ['owner']),
    ...orderIn(search, ORDERS),
    ...(isSet('new') && { new: true }),
    ...(isSet('expiring') && { expiring: true }),
    ...(isSet('playground') && { playground: true }),
  }
}
