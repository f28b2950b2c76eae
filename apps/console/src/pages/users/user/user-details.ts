import type { AuditFieldsFragment, UserPageQuery } from '../../../generated/graphql.ts'

/** A user as its page shows it. */
export type UserDetails = NonNullable<UserPageQuery['user']>

/** How many events the page shows. */
export const EVENTS_MAX = 8

/** What the user did and what was done to it, the newest first; what it did to itself is in both lists. */
export function newestEvents(
  ...lists: readonly (readonly AuditFieldsFragment[] | undefined)[]
): AuditFieldsFragment[] {
  const events = lists.flatMap((list) => list ?? [])
  return [...new Map(events.map((event) => [event.n, event])).values()]
    .sort((one, other) => other.n - one.n)
    .slice(0, EVENTS_MAX)
}
