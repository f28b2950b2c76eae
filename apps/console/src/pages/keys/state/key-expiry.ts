import type { KeyFieldsFragment } from '../../../generated/graphql.ts'

/** Within which times keys expire that are named, so that they are replaced in time: those of the condition of the list. */
export const EXPIRING = ['1d', '7d', '30d'] as const
export type Expiring = (typeof EXPIRING)[number]

/** For how long keys were not used that are looked for. */
export const UNUSED = ['30d', '90d', '180d'] as const

/** The number of such a time. */
export function daysOf(time: Expiring | (typeof UNUSED)[number]): number {
  return Number.parseInt(time, 10)
}

const DAY_MS = 86_400_000
const SOON_DAYS = daysOf('30d')

/** In how many days a key expires that can be used and expires soon: 0 within a day; undefined for every other key. */
export function daysLeft(
  { isActive, expiresAt }: Pick<KeyFieldsFragment, 'isActive' | 'expiresAt'>,
  now: Date,
): number | undefined {
  const days = Math.floor((new Date(expiresAt).getTime() - now.getTime()) / DAY_MS)
  return isActive && days < SOON_DAYS ? Math.max(0, days) : undefined
}
