import { oneOf, typedIn } from '../../filters/address.ts'
import type { Role, UserOrder, UserStatus } from '../../generated/graphql.ts'
import { orderIn } from '../../lists/order.ts'

export const ROLES = ['ADMIN', 'PREMIUM', 'USER'] as const satisfies readonly Role[]
export const STATUSES = ['ACTIVE', 'SUSPENDED'] as const satisfies readonly UserStatus[]

/** At least this share of the quota is used, in percent. */
export const QUOTAS = [50, 80, 100] as const

/** What the columns of the list are ordered by. */
export const ORDERS = [
  'USERNAME',
  'QUOTA_USED',
  'LAST_LOGIN',
  'CREATED_AT',
] as const satisfies readonly UserOrder[]

/** What of the list of users is in its address. */
export type UsersSearch = ReturnType<typeof usersSearch>

export function usersSearch(search: Record<string, unknown>) {
  return {
    // Part of a username or an id.
    ...typedIn(search),
    ...oneOf(search, 'role', ROLES),
    ...oneOf(search, 'status', STATUSES),
    ...quotaIn(search),
    ...orderIn(search, ORDERS),
  }
}

function quotaIn({ quota }: Record<string, unknown>): { quota?: (typeof QUOTAS)[number] | undefined } {
  // A link may name it as a text.
  const known = QUOTAS.find((percent) => String(percent) === String(quota))
  return known === undefined ? {} : { quota: known }
}
