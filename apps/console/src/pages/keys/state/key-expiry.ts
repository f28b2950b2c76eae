import type { KeyFieldsFragment } from '../../../generated/graphql.ts'

/** Keys that expire within these days are marked, so that they are replaced in time. */
export const SOON_DAYS = 14

const DAY_MS = 86_400_000

/** Until when keys expire soon, seen from now. */
export function soon(now: Date): Date {
  return new Date(now.getTime() + SOON_DAYS * DAY_MS)
}

/** In how many days a key expires that can be used and expires soon: 0 within a day; undefined for every other key. */
export function daysLeft(
  { isActive, expiresAt }: Pick<KeyFieldsFragment, 'isActive' | 'expiresAt'>,
  now: Date,
): number | undefined {
  const expires = new Date(expiresAt)
  return isActive && expires < soon(now)
    ? Math.max(0, Math.floor((expires.getTime() - now.getTime()) / DAY_MS))
    : undefined
}
