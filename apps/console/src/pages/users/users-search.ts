import { conditionsIn } from '../../filters/conditions.ts'
import { USERS, USERS_ORDERS } from '../../generated/conditions.ts'
import { orderIn } from '../../lists/order.ts'

const { state: status, quotaPercentMin: quota, ...others } = USERS

export const USER_CONDITIONS = { ...others, status, quota }

/** What of the list of users is in its address. */
export type UsersSearch = ReturnType<typeof usersSearch>

export function usersSearch(search: Record<string, unknown>) {
  return { ...conditionsIn(USER_CONDITIONS, search), ...orderIn(search, USERS_ORDERS) }
}
