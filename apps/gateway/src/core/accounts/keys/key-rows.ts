import { sayWho, type Who } from '#core/audit/actor.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import { OLDER_PROCESSES } from '#core/database/migrations/run-step.ts'
import type { ApiKey, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import type { ChangedColumns, KeyRules } from './key-input.ts'

/*
 * Statements that write rows of keys. Where the number of active keys of an owner could grow, the owner's row is locked before
 * the keys are counted, so that what happens at once cannot exceed the maximum. Like an admission they use `FOR NO KEY UPDATE`,
 * because inserts with a foreign key to the row do not wait for that lock, and lock the user before the key. Only statements may
 * be awaited within a transaction: an embedded database has a single connection.
 */

/** The migration from which on processes know that a key can have two secrets. */
const ROTATION_BUILD = '20261130210000_key_rotation'

export async function insertKey(
  tx: Prisma.TransactionClient,
  data: Prisma.ApiKeyUncheckedCreateInput,
  { activePerUserMax, createdPerDayMax }: Pick<KeyRules, 'activePerUserMax' | 'createdPerDayMax'>,
): Promise<ApiKey> {
  await lockOwner(tx, data.ownerId)
  await requireRoom(tx, data.ownerId, activePerUserMax)
  const [today] = await tx.$queryRaw<{ keys: number; secondsLeft: number }[]>`
    SELECT count(*)::int4 AS keys,
      ceil(extract(epoch FROM date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::int4 AS "secondsLeft"
    FROM api_keys WHERE owner_id = ${data.ownerId}::uuid AND created_at >= date_trunc('day', now(), 'UTC')`
  if (today !== undefined && today.keys >= createdPerDayMax) {
    throw new Problem('too_many_new_keys', {
      detail: `At most ${createdPerDayMax} API keys may be made for a user on one day.`,
      limit: 'keys_a_day',
      retryAfterSeconds: today.secondsLeft,
    })
  }
  return tx.apiKey.create({ data })
}

/** What a change of a key is judged by, beside its fields. */
export interface KeyChangeRules extends Pick<KeyRules, 'activePerUserMax'> {
  readonly who: Who
  readonly isAdmin: boolean
}

/**
 * Changes the key that is selected; undefined if there is none. With a new expiry an expired key becomes active again, for which
 * there must be room, and which is an event of its own in the audit log, as are a pause and its end.
 *
 * @param isActive - false pauses the key, true lifts the pause
 * @throws Problem `too_many_keys`, `key_ended`, `role_denied`
 */
export function updateKey(
  prisma: PrismaClient,
  where: Prisma.ApiKeyWhereInput,
  { isActive, ...data }: ChangedColumns & { readonly isActive?: boolean | undefined },
  { activePerUserMax, who, isAdmin }: KeyChangeRules,
): Promise<ApiKey | undefined> {
  return prisma.$transaction(async (tx) => {
    const key = await tx.apiKey.findFirst({ where, select: { id: true, ownerId: true } })
    if (key === null) return undefined
    if (data.expiresAt !== undefined) await lockOwner(tx, key.ownerId)
    const { now, isExpired, ...state } = await lockKey(tx, key.id)
    const isExtended = isExpired && state.revokedAt === null && data.expiresAt !== undefined
    if (isExtended) await requireRoom(tx, key.ownerId, activePerUserMax)
    if (isActive !== undefined && (state.revokedAt !== null || (isExpired && !isExtended))) fail('key_ended')
    if (isActive === true && state.isPausedByAdmin && !isAdmin)
      fail('role_denied', 'An administrator has paused the key, so only an administrator can lift that.')
    const pause = isActive === undefined ? {} : pauseColumns(isActive, state, { now, isAdmin })
    const isRestricted = pause.pausedAt !== undefined || data.allowedAddresses !== undefined
    const restricted = isRestricted ? { restrictedAt: now } : {}
    const change =
      pause.pausedAt === undefined ? 'keys.update' : pause.pausedAt ? 'keys.pause' : 'keys.resume'
    await tx.$executeRaw(sayWho(who, isExtended ? 'api_keys.extend_expired' : change))
    const [updated] = await tx.apiKey.updateManyAndReturn({
      where,
      data: { ...data, ...pause, ...restricted },
    })
    return updated
  })
}

/** The pause that was there first stays, except that an administrator's takes the place of another one. */
function pauseColumns(
  isActive: boolean,
  { pausedAt, isPausedByAdmin }: Pick<ApiKey, 'pausedAt' | 'isPausedByAdmin'>,
  { now, isAdmin }: { now: Date; isAdmin: boolean },
): { pausedAt?: Date | null; isPausedByAdmin?: boolean } {
  if (isActive) return pausedAt === null ? {} : { pausedAt: null, isPausedByAdmin: false }
  return pausedAt !== null && (isPausedByAdmin || !isAdmin)
    ? {}
    : { pausedAt: pausedAt ?? now, isPausedByAdmin: isAdmin }
}

/** Replaces the secret of the key that is selected; undefined if there is none. */
export function rotateSecret(
  prisma: PrismaClient,
  where: Prisma.ApiKeyWhereInput,
  secret: Pick<ApiKey, 'hash' | 'prefix'>,
  { overlapSeconds, who }: { readonly overlapSeconds: number; readonly who: Who },
): Promise<ApiKey | undefined> {
  return prisma.$transaction(async (tx) => {
    const key = await tx.apiKey.findFirst({ where, select: { id: true } })
    if (key === null) return undefined
    const { now, isExpired, ...state } = await lockKey(tx, key.id)
    if (state.revokedAt !== null || isExpired) fail('key_ended')
    const [older] = await tx.$queryRawUnsafe<object[]>(OLDER_PROCESSES, ROTATION_BUILD)
    if (older !== undefined) fail('upgrade_pending')
    const endsAt = new Date(Math.min(now.getTime() + overlapSeconds * 1_000, state.expiresAt.getTime()))
    const previous = previousSecret(state, { now, endsAt })
    await tx.$executeRaw(sayWho(who, 'keys.rotate'))
    const data = { ...secret, ...previous, rotatedAt: now, secretUsedAt: null }
    const [rotated] = await tx.apiKey.updateManyAndReturn({ where, data })
    return rotated
  })
}

/**
 * The columns of the secret that goes on until the given time. While the one before the present one lives, there is room for a third
 * only if the present one was never used, since the answer that had it may have been lost, or if both end now.
 *
 * @throws Problem `rotation_pending`
 */
function previousSecret(key: ApiKey, { now, endsAt }: { now: Date; endsAt: Date }): Partial<ApiKey> {
  const { previousEndsAt } = key
  const isPending = previousEndsAt !== null && previousEndsAt > now
  if (isPending && !isUsed(key)) return { previousEndsAt: endsAt }
  if (isPending && endsAt > now)
    fail('rotation_pending', {
      detail: `The secret before the present one can be used until ${previousEndsAt.toISOString()}.`,
    })
  return {
    previousHash: key.hash,
    previousPrefix: key.prefix,
    previousEndsAt: endsAt,
    previousUsedAt: key.rotatedAt === null ? key.lastUsedAt : key.secretUsedAt,
  }
}

/** Whether the present secret was used, also through a process that records only the uses of keys. */
function isUsed({ rotatedAt, secretUsedAt, previousUsedAt, lastUsedAt }: ApiKey): boolean {
  const others = Math.max(rotatedAt?.getTime() ?? 0, previousUsedAt?.getTime() ?? 0)
  return secretUsedAt !== null || (lastUsedAt?.getTime() ?? 0) > others
}

/** The row of a key, which stays locked until the end of the transaction, and what the clock of the database says of it. */
async function lockKey(
  tx: Prisma.TransactionClient,
  id: string,
): Promise<ApiKey & { readonly now: Date; readonly isExpired: boolean }> {
  const [clock] = await tx.$queryRaw<{ now: Date }[]>`
    SELECT clock_timestamp() AS now FROM (
      SELECT id FROM api_keys WHERE id = ${id}::uuid FOR NO KEY UPDATE) AS locked`
  const key = await tx.apiKey.findUnique({ where: { id } })
  if (clock === undefined || key === null) return fail('key_not_found')
  return { ...key, now: clock.now, isExpired: key.expiresAt <= clock.now }
}

async function lockOwner(tx: Prisma.TransactionClient, ownerId: string): Promise<void> {
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${ownerId}::uuid FOR NO KEY UPDATE`
}

async function requireRoom(
  tx: Prisma.TransactionClient,
  ownerId: string,
  activePerUserMax: number,
): Promise<void> {
  const [active] = await tx.$queryRaw<{ keys: number }[]>`
    SELECT count(*)::int4 AS keys FROM api_keys
    WHERE owner_id = ${ownerId}::uuid AND revoked_at IS NULL AND expires_at > clock_timestamp()`
  if (active !== undefined && active.keys >= activePerUserMax) {
    fail('too_many_keys', `A user may have at most ${activePerUserMax} active API keys; revoke one first.`)
  }
}
