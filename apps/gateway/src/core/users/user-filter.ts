import { requireOneOf } from '#core/input/input-rules.ts'
import type { OrderFields } from '#core/lists/list-order.ts'
import { type Search, searchOf } from '#core/lists/search.ts'
import { Prisma } from '#generated/prisma/client.ts'
import { USER_STATUSES, type UserStatus } from './user-rules.ts'

/** The orders of lists of users; the first is the default. */
export const USER_ORDERS = {
  created_at: { direction: 'desc' },
  username: { column: 'username_key', kind: 'text', direction: 'asc' },
  last_login: { column: 'last_login', kind: 'time', direction: 'desc' },
} as const satisfies OrderFields<string>

export type UserOrder = keyof typeof USER_ORDERS

export interface UserFilter {
  /** Selects users by a part of their username or id. */
  readonly search?: string | undefined
  readonly state?: UserStatus | undefined
}

/**
 * The condition of a filter; undefined if it selects all users.
 *
 * @throws Problem `invalid_request`
 */
export function usersInSql({ search: text, state }: UserFilter): Prisma.Sql | undefined {
  requireOneOf(['state'], USER_STATUSES, state)
  const search = searchOf(text)
  if (search === undefined) return state && stateInSql(state)
  const found = searchInSql(search)
  return state === undefined ? found : Prisma.sql`${stateInSql(state)} AND ${found}`
}

function stateInSql(state: UserStatus): Prisma.Sql {
  return Prisma.sql`status = ${state}`
}

function searchInSql(search: Search): Prisma.Sql {
  const places = [search.isIn('username_key'), ...search.isInId('users.id')]
  return Prisma.sql`(${Prisma.join(places, ' OR ')})`
}
