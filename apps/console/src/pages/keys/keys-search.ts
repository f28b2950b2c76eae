import { flagsIn } from '../../filters/address.ts'
import { conditionsIn } from '../../filters/conditions.ts'
import { KEYS, KEYS_ORDERS } from '../../generated/conditions.ts'
import { orderIn } from '../../lists/order.ts'

/** The states that are listed, of which the address names none for the active keys. */
export const STATES = ['active', 'expired', 'revoked', 'all'] as const

const { state, user: owner, expiresBefore, ...others } = KEYS

export const KEY_CONDITIONS = {
  ...others,
  state: { ...state, words: STATES },
  owner,
  /** Only keys that expire within the days that `key-expiry.ts` names. */
  expiring: { ...expiresBefore, kind: 'flag' },
} as const

/** What of the list of keys is in its address. */
export type KeysSearch = ReturnType<typeof keysSearch>

export function keysSearch(search: Record<string, unknown>) {
  return {
    ...conditionsIn(KEY_CONDITIONS, search),
    ...orderIn(search, KEYS_ORDERS),
    // `new` opens the dialog for a new key, and `playground` adds the keys of the playground.
    ...flagsIn(search, ['new', 'playground']),
  }
}
