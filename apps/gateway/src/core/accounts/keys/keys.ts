import pLimit from 'p-limit'
import { validate } from 'uuid'
import { requireKnownOwner } from '#core/accounts/users/known-owner.ts'
import { recorded, sayWho, whoIs } from '#core/audit/actor.ts'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import type { Sql } from '#core/database/database.ts'
import { databaseTime } from '#core/database/database-clock.ts'
import { validIds } from '#core/database/valid-ids.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import { mostPerKey, type OwnLimit, perMinute } from '#core/limits/own-limits.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import {
  countListed,
  countListedOf,
  type Listed,
  type OrderedQuery,
  readOrdered,
  readOrderedLists,
} from '#core/lists/ordered-lists.ts'
import { readPlain } from '#core/lists/plain-list.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import type { Keyset } from '#core/requests/input/pagination.ts'
import {
  isAdmin,
  isManager,
  type Principal,
  requireKey,
  requireManager,
  requireToken,
} from '#core/requests/principal.ts'
import { type ApiKey, Prisma, type PrismaClient, type User } from '#generated/prisma/client.ts'
import {
  filterInSql,
  KEY_ORDERS,
  type KeyFilter,
  type KeyOrder,
  narrowInSql,
  ownedInSql,
  visibleInSql,
  visibleTo,
} from './key-filter.ts'
import { hashKey, KEY_PREFIX_LENGTH, makeApiKey } from './key-format.ts'
import {
  aboveGateway,
  changedColumns,
  checkGivenFields,
  type GivenKey,
  type KeyChange,
  type KeyRules,
  type KeyUpdate,
  type NewKey,
  newColumns,
  withoutSameLimits,
} from './key-input.ts'
import { insertKey, rotateSecret, updateKey } from './key-rows.ts'

export const RESET_PERIODS = ['day', 'month', 'total'] as const
export type ResetPeriod = (typeof RESET_PERIODS)[number]

export interface KeysDeps {
  readonly prisma: PrismaClient
  readonly sql: Sql
  readonly runtime: Runtime
  readonly rules: KeyRules
  readonly reads: Reads
  readonly takeWrite: TakeWrite
}

/** The columns and relations to read; whole rows by default. */
export type KeyQuery = Columns<Prisma.ApiKeySelect, Prisma.ApiKeyInclude>

export type KeyListQuery = KeyQuery & OrderedQuery<KeyOrder>

/** The effective limits of a key: its own, as far as keys may have them, or else the gateway's. */
export interface KeyRateLimits {
  readonly chatPerMinute: number
  readonly uploadPerMinute: number
}

/**
 * The management of API keys. Users manage the keys that they created, and see and revoke those that they own as well;
 * administrators manage all. Methods return Prisma's rows; key.ts has the derived fields.
 */
export type Keys = ReturnType<typeof createKeys>

export function createKeys({ prisma, sql, runtime, rules, reads, takeWrite }: KeysDeps) {
  const ordered = {
    prisma,
    reads,
    table: 'api_keys',
    fields: KEY_ORDERS,
  } as const

  // Creations for the same user, and new expiries, wait for a lock on the user's row. Queued here, they do not hold database
  // connections while they wait.
  const runQueued = pLimit(2)

  async function ownerOf(caller: Principal, ownerId: string): Promise<string> {
    if (ownerId === caller.userId) return ownerId
    if (!isAdmin(caller)) fail('role_denied', 'Only an admin may create keys for another user.')
    const owner = await prisma.user.findUnique({ where: { id: ownerId } })
    return owner?.status === 'active'
      ? owner.id
      : refuseField(['ownerId'], 'expected the id of an active user.')
  }

  async function find(caller: Principal, id: string, query: KeyQuery = {}): Promise<ApiKey> {
    requireManager(caller)
    // 404 rather than 403 for another user's key: 403 would confirm that it exists.
    if (!validate(id)) fail('key_not_found')
    const key = await prisma.apiKey.findFirst({
      ...columnsOf(query),
      where: { id, AND: [visibleTo(caller)] },
    })
    return key ?? fail('key_not_found')
  }

  async function findMany(
    caller: Principal,
    ids: readonly string[],
    query: KeyQuery = {},
  ): Promise<ApiKey[]> {
    const { via } = caller
    const known = validIds(ids)
    if (known.length === 0) return []
    const visible = via.kind === 'key' && !isManager(caller) ? { id: via.keyId } : visibleTo(caller)
    const where = { id: { in: known }, AND: [visible] }
    return prisma.apiKey.findMany({ ...columnsOf(query), where })
  }

  async function list(caller: Principal, query: KeyListQuery, filter: KeyFilter = {}) {
    requireManager(caller)
    const { ownerId } = filter
    const listed = listing(caller, filter)
    if (ownerId !== undefined && !validate(ownerId)) return []
    const visible = visibleTo(caller)
    const readKeyset = ({ where, ...keyset }: Keyset) =>
      prisma.apiKey.findMany({
        ...columnsOf(query),
        ...keyset,
        where: { ...where, AND: [visible, ownerId === undefined ? {} : { ownerId }] },
      })
    return (
      readPlain(KEY_ORDERS, query, listed.isFiltered, readKeyset) ??
      readOrdered(ordered, query, listed, readRows(caller, query))
    )
  }

  /** @throws Problem `invalid_request` */
  function listing(caller: Principal, filter: KeyFilter) {
    const now = runtime.now()
    const filtered = filterInSql(caller, filter, now)
    // The keys of one owner are found by an index of their own.
    const isOfAll = isAdmin(caller) && filter.ownerId === undefined
    return {
      where: Prisma.sql`${visibleInSql(caller)} AND ${ownedInSql(filter.ownerId)} AND (${filtered ?? Prisma.sql`true`})`,
      isFiltered: filtered !== undefined,
      isOfAll,
      owner: caller.userId,
      narrow: isOfAll ? narrowInSql(filter, now) : undefined,
    }
  }

  const listingOfOwners = (
    caller: Principal,
    ownerIds: readonly string[],
    filter: Omit<KeyFilter, 'ownerId'>,
  ) => ({
    ...listing(caller, filter),
    parents: validIds(ownerIds),
    parentColumn: 'owner_id' as const,
  })

  const readRows = (caller: Principal, query: KeyQuery) => (ids: readonly string[]) =>
    prisma.apiKey.findMany({
      ...columnsOf(query),
      where: { id: { in: [...ids] }, AND: [visibleTo(caller)] },
    })

  const rateLimits = (own: Pick<ApiKey, 'chatPerMinute' | 'uploadPerMinute'>): KeyRateLimits => ({
    chatPerMinute: effective('chat', own.chatPerMinute),
    uploadPerMinute: effective('upload', own.uploadPerMinute),
  })
  const effective = (name: OwnLimit, own: number | null) =>
    own === null ? perMinute(rules.limits[name]) : Math.min(own, mostPerKey(rules.limits, name))

  /** A limit that only an administrator may set stays where somebody else sends it back with other changes. */
  async function withoutKeptLimits(caller: Principal, id: string, change: KeyChange): Promise<KeyChange> {
    if (isAdmin(caller) || !validate(id) || !aboveGateway(change, rules)) return change
    const select = { chatPerMinute: true, uploadPerMinute: true } as const
    const key = await prisma.apiKey.findFirst({ select, where: { id, ...managedBy(caller) } })
    return key === null ? change : withoutSameLimits(change, key)
  }

  function newSecret() {
    const fullKey = makeApiKey(runtime.randomBytes)
    const hash = Buffer.from(hashKey(fullKey), 'hex')
    return { fullKey, secret: { hash, prefix: fullKey.slice(0, KEY_PREFIX_LENGTH) } }
  }

  async function refuseManaging(caller: Principal, id: string): Promise<never> {
    await find(caller, id)
    fail('role_denied', 'Only the creator of the key or an admin may change it.')
  }

  return {
    /**
     * Creates a key and returns it in full, which is not possible later. Requires an access token of an admin or premium user.
     *
     * @throws Problem `invalid_request`, `role_denied`, `access_token_required`, `rate_limited`, `too_many_keys`,
     * `too_many_new_keys`
     */
    async create(
      caller: Principal,
      input: NewKey,
      onLimit?: OnLimit,
    ): Promise<{ key: ApiKey; fullKey: string }> {
      requireKeyMaker(caller)
      requireGrantable(caller, input.permissions)
      const now = runtime.now()
      const columns = newColumns(caller, input, rules, now)
      await takeWrite(caller, onLimit)
      const ownerId = await ownerOf(caller, input.ownerId ?? caller.userId)
      const { fullKey, secret } = newSecret()
      const data = {
        ...columns,
        id: runtime.newId(),
        ...secret,
        ownerId,
        createdById: caller.userId,
        createdAt: now,
      }
      const key = await runQueued(() =>
        prisma.$transaction(async (tx) => {
          await tx.$executeRaw(sayWho(whoIs(caller), 'keys.create'))
          return insertKey(tx, data, rules)
        }),
      )
      return { key, fullKey }
    },
    /**
     * Validates the fields that are given of a new key, of which others are missing or have the wrong type.
     *
     * @throws Problem `invalid_request` with all mistakes
     */
    check(caller: Principal, input: GivenKey): void {
      requireManager(caller)
      checkGivenFields(caller, input, rules, runtime.now())
    },
    /** @throws Problem `key_not_found` if the key does not exist or the caller may not see it */
    find,
    /**
     * The keys with these ids that the caller may see, in one statement and in no particular order; an API key without `admin`
     * sees only itself, as in {@link Keys.current}.
     */
    findMany,
    /**
     * The keys with these ids that {@link Keys.find} finds, in one statement and in no particular order.
     *
     * @throws Problem `permission_denied` where {@link Keys.find} does
     */
    async findManaged(caller: Principal, ids: readonly string[], query?: KeyQuery): Promise<ApiKey[]> {
      requireManager(caller)
      return findMany(caller, ids, query)
    },
    /**
     * Newest first, unless the query orders otherwise.
     *
     * @throws Problem `invalid_request`, `user_not_found`; `unavailable`, `rate_limited` where a search or an order has to wait too long
     */
    async list(caller: Principal, query: KeyListQuery, filter: KeyFilter = {}) {
      const found = await list(caller, query, filter)
      // Only where nothing was found, because a former administrator still sees the keys that it made for others.
      if (found.length === 0 && query.cursor === undefined)
        await requireKnownOwner(sql, caller, filter.ownerId)
      return found
    },
    /** How many keys {@link Keys.list} has on all pages. */
    async count(caller: Principal, filter: KeyFilter = {}, signal?: AbortSignal): Promise<number> {
      requireManager(caller)
      const { ownerId } = filter
      const listed = listing(caller, filter)
      if (ownerId !== undefined && !validate(ownerId)) return fail('user_not_found')
      const where = { AND: [visibleTo(caller), ownerId === undefined ? {} : { ownerId }] }
      const counted = listed.isFiltered
        ? await countListed(ordered, listed, signal)
        : await prisma.apiKey.count({ where })
      if (counted === 0) await requireKnownOwner(sql, caller, ownerId)
      return counted
    },
    /** The same page of the keys of several owners, by owner; at most two statements. */
    async listOfOwners(
      caller: Principal,
      ownerIds: readonly string[],
      query: KeyListQuery,
      filter: Omit<KeyFilter, 'ownerId'> = {},
    ): Promise<Map<string, Listed<ApiKey>[]>> {
      requireManager(caller)
      const [only, ...others] = validIds(ownerIds)
      if (only !== undefined && others.length === 0) {
        return new Map([[only, await list(caller, query, { ...filter, ownerId: only })]])
      }
      return readOrderedLists(
        ordered,
        query,
        listingOfOwners(caller, ownerIds, filter),
        readRows(caller, query),
      )
    },
    /** How many keys each of several owners has; owners without any are left out. */
    async countOfOwners(
      caller: Principal,
      ownerIds: readonly string[],
      filter: Omit<KeyFilter, 'ownerId'> = {},
      signal?: AbortSignal,
    ): Promise<Map<string, number>> {
      requireManager(caller)
      return countListedOf(ordered, listingOfOwners(caller, ownerIds, filter), signal)
    },
    /**
     * Checks the condition of {@link findMany} on a row that has been read, for to-one relations, which Prisma cannot filter.
     */
    isVisibleTo(
      caller: Principal,
      { id, ownerId, createdById }: Pick<ApiKey, 'id' | 'ownerId' | 'createdById'>,
    ): boolean {
      if (!isManager(caller)) return caller.via.kind === 'key' && caller.via.keyId === id
      return isAdmin(caller) || ownerId === caller.userId || createdById === caller.userId
    },
    /** The effective limits of a key, for those who have its row. */
    rateLimits,
    /** Returns the key that the caller presented, with its owner and effective limits. */
    async current(caller: Principal): Promise<{ key: ApiKey; owner: User; rateLimits: KeyRateLimits }> {
      const { keyId } = requireKey(caller)
      const { owner, ...key } = await prisma.apiKey.findUniqueOrThrow({
        where: { id: keyId },
        include: { owner: true },
      })
      return { key, owner, rateLimits: rateLimits(key) }
    },
    /**
     * A new expiry makes an expired key active again, and leaves a revoked one revoked.
     *
     * @throws Problem `key_not_found`, `invalid_request`, `rate_limited`, `too_many_keys`, `key_ended`; `role_denied` for an owner who
     * did not create the key, and for the pause of an administrator
     */
    async update(
      caller: Principal,
      id: string,
      { isActive, ...change }: KeyUpdate,
      onLimit?: OnLimit,
    ): Promise<ApiKey> {
      requireManager(caller)
      const kept = await withoutKeptLimits(caller, id, change)
      const data = { ...changedColumns(caller, kept, rules, runtime.now()), isActive }
      if (!validate(id)) fail('key_not_found')
      await takeWrite(caller, onLimit)
      const where = { id, ...managedBy(caller) }
      const by = { ...rules, who: whoIs(caller), isAdmin: isAdmin(caller) }
      const update = () => updateKey(prisma, where, data, by)
      const key = await (data.expiresAt === undefined ? update() : runQueued(update))
      return key ?? refuseManaging(caller, id)
    },
    /**
     * Gives a key another secret, which is returned in full and not possible to see later. The one before can be used until the overlap
     * ends. Requires an access token of a user who may create such a key.
     *
     * @throws Problem `key_not_found`, `invalid_request`, `access_token_required`, `role_denied`, `rate_limited`, `key_ended`,
     * `rotation_pending`, `upgrade_pending`
     */
    async rotate(
      caller: Principal,
      id: string,
      { overlapSeconds = OVERLAP_SECONDS }: KeyRotation,
      onLimit?: OnLimit,
    ): Promise<{ key: ApiKey; fullKey: string }> {
      requireKeyMaker(caller)
      checkRotation({ overlapSeconds })
      const key = await find(caller, id)
      if (!isAdmin(caller) && key.ownerId !== caller.userId)
        fail('role_denied', 'Only an admin may make a secret for the key of another user.')
      requireGrantable(caller, key.permissions)
      await takeWrite(caller, onLimit)
      const { fullKey, secret } = newSecret()
      const by = { overlapSeconds, who: whoIs(caller) }
      const rotated = await rotateSecret(prisma, { id, AND: [visibleTo(caller)] }, secret, by)
      return { key: rotated ?? fail('key_not_found'), fullKey }
    },
    /** @throws Problem `invalid_request` */
    checkRotation,
    /**
     * Sets the counter of the current period to zero. Reports and the ledger are not changed.
     *
     * @throws Problem `key_not_found`, `invalid_request`, `rate_limited`; `role_denied` for an owner who did not create the key
     */
    async resetUsage(caller: Principal, id: string, period: ResetPeriod, onLimit?: OnLimit): Promise<ApiKey> {
      requireManager(caller)
      requireOneOf(['period'], RESET_PERIODS, period)
      if (!validate(id)) fail('key_not_found')
      await takeWrite(caller, onLimit)
      if ((await prisma.apiKey.count({ where: { id, ...managedBy(caller) } })) === 0) {
        return refuseManaging(caller, id)
      }
      await recorded(prisma, whoIs(caller), 'keys.resetUsage', prisma.$executeRaw(RESETS[period](id)))
      return find(caller, id)
    },
    /**
     * Revokes a key and keeps its record. Its owner may do so as well, also where another user created it. Idempotent: a repetition keeps the time
     * of the first revocation.
     *
     * @throws Problem `key_not_found`
     */
    async revoke(caller: Principal, id: string): Promise<ApiKey> {
      requireManager(caller)
      if (!validate(id)) fail('key_not_found')
      const where = { id, AND: [visibleTo(caller)] }
      const revoking = prisma.apiKey.updateMany({
        where: { ...where, revokedAt: null },
        // Running calls end by this time (key-watch.ts).
        data: { revokedAt: await databaseTime(prisma) },
      })
      await recorded(prisma, whoIs(caller), 'keys.revoke', revoking)
      const key = await prisma.apiKey.findFirst({ where })
      return key ?? fail('key_not_found')
    },
    /**
     * Ends the overlap of a rotation: the secret before the present one can no longer be used, and running calls go on. Those who may revoke
     * the key may do so. Idempotent: a secret that has ended keeps its end.
     *
     * @throws Problem `key_not_found`
     */
    async endPreviousSecret(caller: Principal, id: string): Promise<ApiKey> {
      requireManager(caller)
      if (!validate(id)) fail('key_not_found')
      const where = { id, AND: [visibleTo(caller)] }
      const now = await databaseTime(prisma)
      const ending = prisma.apiKey.updateMany({
        where: { ...where, previousEndsAt: { gt: now } },
        data: { previousEndsAt: now },
      })
      await recorded(prisma, whoIs(caller), 'keys.endPreviousSecret', ending)
      const key = await prisma.apiKey.findFirst({ where })
      return key ?? fail('key_not_found')
    },
  }
}

/** A reset sets the baseline to the counter in one statement, so that calls counted at the same time are not lost. */
const RESETS: Record<ResetPeriod, (id: string) => Prisma.Sql> = {
  total: (id) => Prisma.sql`UPDATE api_keys SET total_baseline = total_calls WHERE id = ${id}::uuid`,
  day: (id) => Prisma.sql`
    UPDATE api_keys SET day_baseline = day_calls, day_reset_start = day_start WHERE id = ${id}::uuid`,
  month: (id) => Prisma.sql`
    UPDATE api_keys SET month_baseline = month_calls, month_reset_start = month_start WHERE id = ${id}::uuid`,
}

/** How a key gets another secret. */
export interface KeyRotation {
  /** How long the secret before can be used, in seconds; a day by default, and never beyond the expiry of the key. */
  readonly overlapSeconds?: number | undefined
}

const OVERLAP_SECONDS = 86_400
export const OVERLAP_SECONDS_MAX = 2_592_000

function checkRotation({ overlapSeconds = OVERLAP_SECONDS }: KeyRotation): void {
  if (Number.isInteger(overlapSeconds) && overlapSeconds >= 0 && overlapSeconds <= OVERLAP_SECONDS_MAX) return
  refuseField(['overlapSeconds'], `expected an integer of 0 to ${OVERLAP_SECONDS_MAX}.`)
}

function requireKeyMaker(caller: Principal): void {
  requireToken(caller, 'API keys cannot create API keys or their secrets.')
  if (caller.role === 'user') fail('role_denied', 'This needs the role admin or premium.')
}

function requireGrantable(caller: Principal, permissions: readonly string[]): void {
  if (permissions.includes('admin') && !isAdmin(caller)) {
    fail('role_denied', 'Only an admin may grant the permission admin.')
  }
}

function managedBy(caller: Principal): Prisma.ApiKeyWhereInput {
  return isAdmin(caller) ? {} : { createdById: caller.userId }
}
