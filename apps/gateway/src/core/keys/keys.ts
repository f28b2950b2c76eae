import pLimit from 'p-limit'
import { validate } from 'uuid'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import { fail, refuseField } from '#core/errors.ts'
import { requireOneOf } from '#core/input-rules.ts'
import { perMinute } from '#core/limits/limits.ts'
import { type ListQuery, readList } from '#core/pagination.ts'
import { isAdmin, type Principal, requireKey, requireManager, requireToken } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { type ApiKey, Prisma, type PrismaClient, type User } from '#generated/prisma/client.ts'
import { hashKey, KEY_PREFIX_LENGTH, makeApiKey } from './key-format.ts'
import { changedColumns, type KeyChange, type KeyRules, type NewKey, newColumns } from './key-input.ts'

export const RESET_PERIODS = ['day', 'month', 'total'] as const
export type ResetPeriod = (typeof RESET_PERIODS)[number]

export interface KeysDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  readonly rules: KeyRules
}

export interface KeyFilter {
  /** Only keys that are, or are not, usable now; left out: both. */
  readonly active?: boolean | undefined
  /** Only keys of this user; an id that is none matches nothing. */
  readonly ownerId?: string | undefined
}

/** Without it, whole rows come. */
export type KeyQuery = Columns<Prisma.ApiKeySelect, Prisma.ApiKeyInclude>

/** The limits that hold for a key: its own and the gateway's, whichever is lower. */
export interface KeyRateLimits {
  readonly chatPerMinute: number
  readonly uploadPerMinute: number
}

/**
 * Users manage the keys they created and see those they own as well; administrators manage all. Rows come as Prisma gives
 * them, and key.ts has what else can be said of a row.
 */
export interface Keys {
  /** The only time that the whole key is seen. Takes an access token of an admin or premium user. */
  create(caller: Principal, input: NewKey): Promise<{ key: ApiKey; fullKey: string }>
  /** @throws Problem `key_not_found`: for a key that the caller may not see as for one that does not exist */
  find(caller: Principal, id: string, query?: KeyQuery): Promise<ApiKey>
  /** Newest first. */
  list(caller: Principal, query: ListQuery & KeyQuery, filter?: KeyFilter): Promise<ApiKey[]>
  count(caller: Principal, filter?: KeyFilter): Promise<number>
  /**
   * The condition by which `find`, `list` and `count` see keys, for statements that reach keys by a relation. To be joined
   * to them by `AND`, so that it replaces nothing.
   */
  visibleTo(caller: Principal): Prisma.ApiKeyWhereInput
  /** The key that the caller presented. */
  current(caller: Principal): Promise<{ key: ApiKey; owner: User; rateLimits: KeyRateLimits }>
  update(caller: Principal, id: string, change: KeyChange): Promise<ApiKey>
  /** Counts from zero again for what is left of the period; the history stays. */
  resetUsage(caller: Principal, id: string, period: ResetPeriod): Promise<ApiKey>
  /** Idempotent: the first time stands, and the record is kept. */
  revoke(caller: Principal, id: string): Promise<ApiKey>
}

export function createKeys({ prisma, runtime, rules }: KeysDeps): Keys {
  // Creations for one user wait for each other at its row: here they wait without holding a connection.
  const inTurn = pLimit(2)

  async function ownerOf(caller: Principal, ownerId: string): Promise<string> {
    if (ownerId === caller.userId) return ownerId
    if (!isAdmin(caller)) fail('role_denied', 'Only an admin may create keys for another user.')
    const owner = validate(ownerId) ? await prisma.user.findUnique({ where: { id: ownerId } }) : null
    return owner?.status === 'active'
      ? owner.id
      : refuseField(['ownerId'], 'expected the id of an active user.')
  }

  async function find(caller: Principal, id: string, query: KeyQuery = {}): Promise<ApiKey> {
    requireManager(caller)
    // 404 rather than 403 for a neighbour's key: a 403 would confirm that it exists.
    if (!validate(id)) fail('key_not_found')
    const key = await prisma.apiKey.findFirst({
      ...columnsOf(query),
      where: { id, AND: [visibleTo(caller)] },
    })
    return key ?? fail('key_not_found')
  }

  const rateLimits = ({ chatPerMinute, uploadPerMinute }: ApiKey): KeyRateLimits => ({
    chatPerMinute: Math.min(chatPerMinute ?? Infinity, perMinute(rules.limits.chat)),
    uploadPerMinute: Math.min(uploadPerMinute ?? Infinity, perMinute(rules.limits.upload)),
  })

  const whereOf = (caller: Principal, { active, ownerId }: KeyFilter) => ({
    AND: [visibleTo(caller), activeWhere(active, runtime.now()), ownerId === undefined ? {} : { ownerId }],
  })

  async function refuseManaging(caller: Principal, id: string): Promise<never> {
    await find(caller, id)
    fail('role_denied', 'Only the creator of the key or an admin may change it.')
  }

  return {
    async create(caller, input) {
      requireKeyCreator(caller, input)
      const now = runtime.now()
      const columns = newColumns(input, rules, now)
      const ownerId = await ownerOf(caller, input.ownerId ?? caller.userId)
      const fullKey = makeApiKey(runtime.randomBytes)
      const data = {
        ...columns,
        id: runtime.newId(),
        hash: Buffer.from(hashKey(fullKey), 'hex'),
        prefix: fullKey.slice(0, KEY_PREFIX_LENGTH),
        ownerId,
        createdById: caller.userId,
        createdAt: now,
      }
      const key = await inTurn(() => prisma.$transaction((tx) => insertKey(tx, data, rules.activePerUserMax)))
      return { key, fullKey }
    },
    find,
    async list(caller, query, filter = {}) {
      requireManager(caller)
      if (filter.ownerId !== undefined && !validate(filter.ownerId)) return []
      return readList(query, ({ where, ...keyset }) =>
        prisma.apiKey.findMany({
          ...columnsOf(query),
          ...keyset,
          where: { ...where, ...whereOf(caller, filter) },
        }),
      )
    },
    async count(caller, filter = {}) {
      requireManager(caller)
      if (filter.ownerId !== undefined && !validate(filter.ownerId)) return 0
      return prisma.apiKey.count({ where: whereOf(caller, filter) })
    },
    visibleTo(caller) {
      requireManager(caller)
      return visibleTo(caller)
    },
    async current(caller) {
      const { keyId } = requireKey(caller)
      const { owner, ...key } = await prisma.apiKey.findUniqueOrThrow({
        where: { id: keyId },
        include: { owner: true },
      })
      return { key, owner, rateLimits: rateLimits(key) }
    },
    async update(caller, id, change) {
      requireManager(caller)
      const data = changedColumns(change, rules)
      if (!validate(id)) fail('key_not_found')
      const where = { id, ...managedBy(caller) }
      const [key] = await prisma.apiKey.updateManyAndReturn({ where, data })
      return key ?? refuseManaging(caller, id)
    },
    async resetUsage(caller, id, period) {
      requireManager(caller)
      requireOneOf(['period'], RESET_PERIODS, period)
      if (!validate(id)) fail('key_not_found')
      if ((await prisma.apiKey.count({ where: { id, ...managedBy(caller) } })) === 0) {
        return refuseManaging(caller, id)
      }
      await prisma.$executeRaw(RESETS[period](id))
      return find(caller, id)
    },
    async revoke(caller, id) {
      requireManager(caller)
      if (!validate(id)) fail('key_not_found')
      const where = { id, ...managedBy(caller) }
      await prisma.apiKey.updateMany({
        where: { ...where, revokedAt: null },
        data: { revokedAt: runtime.now() },
      })
      const key = await prisma.apiKey.findFirst({ where })
      return key ?? refuseManaging(caller, id)
    },
  }
}

/**
 * The owner's row is locked before its keys are counted, so that of several creations at once none passes the bound. Like
 * an admission it takes the weaker lock, which foreign keys to the row do not wait for. Nothing but statements may be
 * awaited in here: an embedded database has one connection for everybody.
 */
async function insertKey(
  tx: Prisma.TransactionClient,
  data: Prisma.ApiKeyUncheckedCreateInput,
  activeMax: number,
): Promise<ApiKey> {
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${data.ownerId}::uuid FOR NO KEY UPDATE`
  const [active] = await tx.$queryRaw<{ keys: number }[]>`
    SELECT count(*)::int4 AS keys FROM api_keys
    WHERE owner_id = ${data.ownerId}::uuid AND revoked_at IS NULL AND expires_at > clock_timestamp()`
  if (active !== undefined && active.keys >= activeMax) {
    fail('too_many_keys', `A user may have at most ${activeMax} active API keys; revoke one first.`)
  }
  return tx.apiKey.create({ data })
}

/** A baseline moves up to the counter, in one statement: calls that are counted meanwhile are not lost. */
const RESETS: Record<ResetPeriod, (id: string) => Prisma.Sql> = {
  total: (id) => Prisma.sql`UPDATE api_keys SET total_baseline = total_calls WHERE id = ${id}::uuid`,
  day: (id) => Prisma.sql`
    UPDATE api_keys SET day_baseline = day_calls, day_reset_start = day_start WHERE id = ${id}::uuid`,
  month: (id) => Prisma.sql`
    UPDATE api_keys SET month_baseline = month_calls, month_reset_start = month_start WHERE id = ${id}::uuid`,
}

function requireKeyCreator(caller: Principal, { permissions }: NewKey): void {
  requireToken(caller, 'No API key creates keys.')
  if (caller.role === 'user') fail('role_denied', 'This needs the role admin or premium.')
  if (permissions.includes('admin') && !isAdmin(caller)) {
    fail('role_denied', 'Only an admin may grant the permission admin.')
  }
}

function managedBy(caller: Principal): Prisma.ApiKeyWhereInput {
  return isAdmin(caller) ? {} : { createdById: caller.userId }
}

function visibleTo(caller: Principal): Prisma.ApiKeyWhereInput {
  return isAdmin(caller) ? {} : { OR: [{ createdById: caller.userId }, { ownerId: caller.userId }] }
}

/** The same condition as `isActive` in key.ts. */
function activeWhere(active: boolean | undefined, now: Date): Prisma.ApiKeyWhereInput {
  if (active === undefined) return {}
  return active
    ? { revokedAt: null, expiresAt: { gt: now } }
    : { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] }
}
