import { recorded, sayWho, type Who } from '#core/audit/actor.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { ApiKey, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import type { ChangedColumns, KeyRules } from './key-input.ts'

/*
 * Statements that write rows of keys. Where the number of active keys of an owner could grow, the owner's row is locked before
 * the keys are counted, so that what happens at once cannot exceed the maximum. Like an admission they use `FOR NO KEY UPDATE`,
 * because inserts with a foreign key to the row do not wait for that lock, and lock the user before the key. Only statements may
 * be awaited within a transaction: an embedded database has a single connection.
 */

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

/** Changes the key that is selected; undefined if there is none. */
export async function updateKey(
  prisma: PrismaClient,
  where: Prisma.ApiKeyWhereInput,
  data: ChangedColumns,
  who: Who,
): Promise<ApiKey | undefined> {
  const updating = prisma.apiKey.updateManyAndReturn({ where, data })
  const [key] = await recorded(prisma, who, 'keys.update', updating)
  return key
}

/**
 * Like {@link updateKey}, with a new expiry in the future. An expired key becomes active again by it, for which there must be
 * room, and which is an event of its own in the audit log.
 *
 * @throws Problem `too_many_keys`
 */
export function updateExpiry(
  prisma: PrismaClient,
  where: Prisma.ApiKeyWhereInput,
  data: ChangedColumns,
  { activePerUserMax, who }: Pick<KeyRules, 'activePerUserMax'> & { readonly who: Who },
): Promise<ApiKey | undefined> {
  return prisma.$transaction(async (tx) => {
    const key = await tx.apiKey.findFirst({ where, select: { id: true, ownerId: true } })
    if (key === null) return undefined
    await lockOwner(tx, key.ownerId)
    const [state] = await tx.$queryRaw<{ isExpired: boolean }[]>`
      SELECT revoked_at IS NULL AND expires_at <= clock_timestamp() AS "isExpired"
      FROM api_keys WHERE id = ${key.id}::uuid FOR NO KEY UPDATE`
    const isExpired = state?.isExpired === true
    if (isExpired) await requireRoom(tx, key.ownerId, activePerUserMax)
    await tx.$executeRaw(sayWho(who, isExpired ? 'api_keys.extend_expired' : 'keys.update'))
    const [updated] = await tx.apiKey.updateManyAndReturn({ where, data })
    return updated
  })
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
