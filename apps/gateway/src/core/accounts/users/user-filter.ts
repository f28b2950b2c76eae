import { refuseField } from '#core/base/errors/errors.ts'
import { allInSql } from '#core/lists/all-in-sql.ts'
import type { OrderFields } from '#core/lists/list-order.ts'
import { type Search, searchOf } from '#core/lists/search.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import { ROLES, type Role } from '#core/requests/principal.ts'
import { Prisma } from '#generated/prisma/client.ts'
import { USER_STATUSES, type UserStatus } from './user-rules.ts'

/** The calls of the current period, as `apiCallsCount` of user.ts computes them. */
const COUNTED = `(CASE WHEN quota_start >= CASE quota_period
    WHEN 'day' THEN date_trunc('day', now(), 'UTC')
    WHEN 'month' THEN date_trunc('month', now(), 'UTC')
    ELSE '-infinity' END
  THEN api_calls_count ELSE 0 END)`

/**
 * The used share of the quota in millionths, which is enough to tell shares apart. Without a single call to make, all of the
 * quota is used.
 */
function quotaUsedInSql(): string {
  return `(CASE WHEN max_api_calls <= 0 THEN 1000000
    ELSE least(trunc(${COUNTED}::numeric * 1000000 / max_api_calls), 1e15)::bigint END)`
}

/** The orders of lists of users; the first is the default. */
export const USER_ORDERS = {
  created_at: { direction: 'desc' },
  username: { column: 'username_key', kind: 'text', direction: 'asc' },
  last_login: { column: 'last_login', kind: 'time', direction: 'desc' },
  api_calls_count: { column: COUNTED, kind: 'count', direction: 'desc' },
  quota_used: { column: quotaUsedInSql(), kind: 'count', direction: 'desc' },
} as const satisfies OrderFields<string>

export type UserOrder = keyof typeof USER_ORDERS

export interface UserFilter {
  /** Selects users by a part of their username or id. */
  readonly search?: string | undefined
  readonly state?: UserStatus | undefined
  readonly role?: Role | undefined
  /** Selects users who have used at least this share of their quota, in percent from 0 to 100. */
  readonly quotaPercentMin?: number | undefined
}

/**
 * The condition of a filter; undefined if it selects all users.
 *
 * @throws Problem `invalid_request`
 */
export function usersInSql({
  search: text,
  state,
  role,
  quotaPercentMin,
}: UserFilter): Prisma.Sql | undefined {
  const { search } = allOf({
    search: () => searchOf(text),
    state: () => requireOneOf(['state'], USER_STATUSES, state),
    role: () => requireOneOf(['role'], ROLES, role),
    quotaPercentMin: () => ifGiven(quotaPercentMin, requirePercent),
  })
  return allInSql([
    state && Prisma.sql`status = ${state}`,
    role && roleInSql(role),
    ifGiven(quotaPercentMin, usedInSql),
    search && searchInSql(search),
  ])
}

/** A word that this version does not know is the role `user`, as in `knownRole`. */
function roleInSql(role: Role): Prisma.Sql {
  const others = ROLES.filter((known) => known !== 'user')
  return role === 'user' ? Prisma.sql`role NOT IN (${Prisma.join(others)})` : Prisma.sql`role = ${role}`
}

function requirePercent(percent: number): void {
  if (!Number.isInteger(percent) || percent < 0 || percent > 100) {
    refuseField(['quotaPercentMin'], 'expected a whole number from 0 to 100.')
  }
}

function usedInSql(percent: number): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(COUNTED)}::numeric * 100 >= max_api_calls::numeric * ${percent}::int4`
}

function searchInSql(search: Search): Prisma.Sql {
  const places = [search.isIn('username_key'), ...search.isInId('users.id')]
  return Prisma.sql`(${Prisma.join(places, ' OR ')})`
}
