import { isAdmin, type Principal } from '#core/principal.ts'
import { Prisma } from '#generated/prisma/client.ts'

export interface KeyFilter {
  /** Selects keys that are usable now (true) or not (false); both by default. */
  readonly active?: boolean | undefined
  /** Selects the keys of this user; an invalid id matches nothing. */
  readonly ownerId?: string | undefined
}

/** The keys that the caller may see. {@link visibleInSql} is the same. */
export function visibleTo(caller: Principal): Prisma.ApiKeyWhereInput {
  return isAdmin(caller) ? {} : { OR: [{ createdById: caller.userId }, { ownerId: caller.userId }] }
}

/** The condition of `isActive` in key.ts for the database. {@link activeInSql} is the same. */
export function activeWhere(active: boolean | undefined, now: Date): Prisma.ApiKeyWhereInput {
  if (active === undefined) return {}
  return active
    ? { revokedAt: null, expiresAt: { gt: now } }
    : { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] }
}

export function visibleInSql(caller: Principal): Prisma.Sql {
  if (isAdmin(caller)) return Prisma.sql`true`
  return Prisma.sql`${caller.userId}::uuid IN (created_by_id, owner_id)`
}

export function activeInSql(active: boolean | undefined, now: Date): Prisma.Sql {
  if (active === undefined) return Prisma.sql`true`
  return Prisma.sql`(revoked_at IS NULL AND expires_at > ${now}::timestamptz) = ${active}`
}
