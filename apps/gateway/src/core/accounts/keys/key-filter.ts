import { validate } from 'uuid'
import { refuseField } from '#core/base/errors/errors.ts'
import { allInSql } from '#core/lists/all-in-sql.ts'
import type { OrderFields } from '#core/lists/list-order.ts'
import { type Search, searchOf } from '#core/lists/search.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import { parseTimestamp } from '#core/requests/input/timestamp.ts'
import { isAdmin, type Principal } from '#core/requests/principal.ts'
import { Prisma } from '#generated/prisma/client.ts'
import { KEY_STATES, type KeyState } from './key.ts'
import { KEY_PREFIX_LENGTH } from './key-format.ts'

/** The orders of lists of keys; the first is the default. */
export const KEY_ORDERS = {
  created_at: { direction: 'desc' },
  name: { column: 'name_key', kind: 'text', direction: 'asc' },
  last_used_at: { column: 'last_used_at', kind: 'time', direction: 'desc' },
  expires_at: { column: 'expires_at', kind: 'time', direction: 'asc' },
  calls_today: { column: callsInSql('day'), kind: 'count', direction: 'desc' },
  calls_this_month: { column: callsInSql('month'), kind: 'count', direction: 'desc' },
  total_calls: { column: '(total_calls - total_baseline)', kind: 'count', direction: 'desc' },
} as const satisfies OrderFields<string>

export type KeyOrder = keyof typeof KEY_ORDERS

export interface KeyFilter {
  /** Selects keys by a part of their name, prefix or id, or of the username of their owner, if the caller may see it. */
  readonly search?: string | undefined
  /** A key that was revoked stays so when it expires. */
  readonly state?: KeyState | undefined
  /** Selects keys that are active and expire before this time: ISO 8601 with a zone. */
  readonly expiresBefore?: string | Date | undefined
  /** Selects keys that are active and expire within these days, such as `30d`. */
  readonly expiresWithin?: string | undefined
  /** Selects active and paused keys that were not used for these days, such as `90d`, nor made in them. */
  readonly unusedFor?: string | undefined
  /** Selects the keys of this user; an invalid id matches nothing. */
  readonly ownerId?: string | undefined
}

/** The calls of the current day or month, as `callsToday` of key.ts computes them. */
function callsInSql(period: 'day' | 'month'): string {
  const counted = `${period}_calls`
  const reset = `CASE WHEN ${period}_reset_start = ${period}_start THEN ${period}_baseline ELSE 0 END`
  return `(CASE WHEN ${period}_start >= date_trunc('${period}', now(), 'UTC') THEN ${counted} - ${reset} ELSE 0 END)`
}

/** The keys that the caller may see. {@link visibleInSql} is the same. */
export function visibleTo(caller: Principal): Prisma.ApiKeyWhereInput {
  return isAdmin(caller) ? {} : { OR: [{ createdById: caller.userId }, { ownerId: caller.userId }] }
}

export function visibleInSql(caller: Principal): Prisma.Sql {
  if (isAdmin(caller)) return Prisma.sql`true`
  return Prisma.sql`(created_by_id = ${caller.userId}::uuid OR owner_id = ${caller.userId}::uuid)`
}

/**
 * The condition of a filter, without the keys that the caller may not see; undefined if it selects all that it may.
 *
 * @throws Problem `invalid_request`
 */
export function filterInSql(
  caller: Principal,
  { search: text, state, expiresBefore, expiresWithin, unusedFor }: Omit<KeyFilter, 'ownerId'>,
  now: Date,
): Prisma.Sql | undefined {
  const { search, before, within, unused } = allOf({
    state: () => requireOneOf(['state'], KEY_STATES, state),
    search: () => searchOf(text),
    before: () => ifGiven(expiresBefore, timeOf),
    within: () => ifGiven(expiresWithin, (days) => new Date(now.getTime() + daysOf('expiresWithin', days))),
    unused: () => ifGiven(unusedFor, (days) => new Date(now.getTime() - daysOf('unusedFor', days))),
  })
  return allInSql([
    state && stateInSql(state, now),
    before && expiringInSql(before, now),
    within && expiringInSql(within, now),
    unused && unusedInSql(unused, now),
    search && searchInSql(caller, search),
  ])
}

/**
 * A part of the condition of a filter, which must be valid, for which there is an index; undefined if there is none. Without statistics
 * the planner takes a range with two ends for small, and one with a single end for a third of the table, which it would rather scan.
 */
export function narrowInSql({ expiresWithin, unusedFor }: KeyFilter, now: Date): Prisma.Sql | undefined {
  if (unusedFor !== undefined)
    return Prisma.sql`day_start > '-infinity' AND day_start < ${new Date(now.getTime() - daysOf('unusedFor', unusedFor))}::timestamptz`
  if (expiresWithin === undefined) return undefined
  const before = new Date(now.getTime() + daysOf('expiresWithin', expiresWithin))
  return Prisma.sql`expires_at > ${now}::timestamptz AND expires_at < ${before}::timestamptz`
}

function timeOf(time: string | Date): Date {
  const parsed = time instanceof Date ? time : parseTimestamp(time)
  return parsed ?? refuseField(['expiresBefore'], 'expected an ISO 8601 time with a zone, from 1970 on.')
}

const DAYS = /^([1-9]\d{0,3})d$/
const DAY_MS = 86_400_000

function daysOf(field: string, text: string): number {
  const days = DAYS.exec(text)?.[1] ?? refuseField([field], 'expected a number of days, such as 30d.')
  return Number(days) * DAY_MS
}

function expiringInSql(before: Date, now: Date): Prisma.Sql {
  return Prisma.sql`${stateInSql('active', now)} AND expires_at < ${before}::timestamptz`
}

/** The first condition is for the index: the day of the last use, or the start of 1970 for a key that was never used. */
function unusedInSql(since: Date, now: Date): Prisma.Sql {
  return Prisma.sql`day_start < ${since}::timestamptz AND created_at < ${since}::timestamptz
    AND (last_used_at IS NULL OR last_used_at < ${since}::timestamptz)
    AND revoked_at IS NULL AND expires_at > ${now}::timestamptz`
}

export function ownedInSql(ownerId: string | undefined): Prisma.Sql {
  if (ownerId === undefined) return Prisma.sql`true`
  return validate(ownerId) ? Prisma.sql`owner_id = ${ownerId}::uuid` : Prisma.sql`false`
}

/** The conditions of `stateOf` in key.ts. */
function stateInSql(state: KeyState, now: Date): Prisma.Sql {
  switch (state) {
    case 'active':
      return Prisma.sql`revoked_at IS NULL AND expires_at > ${now}::timestamptz AND paused_at IS NULL`
    case 'paused':
      return Prisma.sql`revoked_at IS NULL AND expires_at > ${now}::timestamptz AND paused_at IS NOT NULL`
    case 'expired':
      return Prisma.sql`revoked_at IS NULL AND expires_at <= ${now}::timestamptz`
    case 'revoked':
      return Prisma.sql`revoked_at IS NOT NULL`
  }
}

function searchInSql(caller: Principal, search: Search): Prisma.Sql {
  const ownName = isAdmin(caller) ? Prisma.sql`true` : Prisma.sql`users.id = ${caller.userId}::uuid`
  const places = [
    search.isIn('name_key'),
    Prisma.sql`EXISTS (SELECT 1 FROM users
      WHERE users.id = api_keys.owner_id AND ${ownName} AND ${search.isIn('users.username_key')})`,
    ...search.isInPrefix('prefix', KEY_PREFIX_LENGTH),
    ...search.isInPrefix('previous_prefix', KEY_PREFIX_LENGTH),
    ...search.isInId('api_keys.id'),
  ]
  return Prisma.sql`(${Prisma.join(places, ' OR ')})`
}
