import { flagsIn } from '../../filters/address.ts'
import { conditionsIn } from '../../filters/conditions.ts'
import { KEYS, KEYS_ORDERS } from '../../generated/conditions.ts'
import { orderIn } from '../../lists/order.ts'
import { EXPIRING, UNUSED } from './state/key-expiry.ts'

/** The states that are listed, of which the address names none for the active keys. */
export const STATES = ['active', 'paused', 'expired', 'revoked', 'all'] as const

const { state, user: owner, expiresWithin, unusedFor, ...others } = KEYS

export const KEY_CONDITIONS = {
  ...others,
  state: { ...state, words: STATES },
  owner,
  expiring: { ...expiresWithin, kind: 'words', words: EXPIRING },
  unused: { ...unusedFor, kind: 'words', words: UNUSED },
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
