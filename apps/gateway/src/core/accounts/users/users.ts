import { validate } from 'uuid'
import { GATEWAY, recorded, sayWho, whoIs } from '#core/audit/actor.ts'
import type { AuditOperation } from '#core/audit/operations.ts'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import { databaseTime } from '#core/database/database-clock.ts'
import { validIds } from '#core/database/valid-ids.ts'
import type { QuotaPeriod } from '#core/ledger/quota-period.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import {
  countListed,
  type Listed,
  type Listing,
  type OrderedQuery,
  readOrdered,
} from '#core/lists/ordered-lists.ts'
import { readPlain } from '#core/lists/plain-list.ts'
import type { Keyset } from '#core/requests/input/pagination.ts'
import { isAdmin, isManager, type Principal, requireAdmin, requireManager } from '#core/requests/principal.ts'
import { Prisma, type PrismaClient, type User } from '#generated/prisma/client.ts'
import type { Passwords } from './passwords.ts'
import { USER_ORDERS, type UserFilter, type UserOrder, usersInSql } from './user-filter.ts'
import {
  checkOwnPasswords,
  checkUser,
  type NewUser,
  type OwnPasswords,
  type UserChange,
} from './user-input.ts'
import { normalizeUsername, usernameKey } from './user-rules.ts'

export interface UsersDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  readonly limits: Pick<Limits, 'login' | 'successfulLogins'>
  readonly passwords: Passwords
  readonly reads: Reads
  readonly takeWrite: TakeWrite
  readonly config: { readonly maxApiCalls: number }
}

/** The columns and relations to read; whole rows by default. */
export type UserQuery = Columns<Prisma.UserSelect, Prisma.UserInclude>

export type UserListQuery = UserQuery & OrderedQuery<UserOrder>

/**
 * The management of users, by administrators, and of the caller's own account. Methods return Prisma's rows, which contain
 * the password hash: a face must pick the fields that it shows. user.ts has the derived fields.
 */
export type Users = Omit<ReturnType<typeof createUsers>, keyof FirstStart>

/** The first start of an installation, before any user exists who could call {@link Users}. */
export type FirstStart = Pick<ReturnType<typeof createUsers>, 'usersExist' | 'createFirstAdmin'>

export function createUsers({ prisma, runtime, limits, passwords, reads, takeWrite, config }: UsersDeps) {
  const ordered = {
    prisma,
    reads,
    table: 'users',
    fields: USER_ORDERS,
  } as const

  async function newRow(input: NewUser): Promise<Prisma.UserCreateManyInput> {
    const { username } = checkUser(input)
    const passwordHash = await passwords.hash(input.password)
    const now = runtime.now()
    return {
      id: runtime.newId(),
      username,
      usernameKey: usernameKey(username),
      passwordHash,
      role: input.role ?? 'user',
      maxApiCalls: input.maxApiCalls ?? config.maxApiCalls,
      quotaPeriod: input.quotaPeriod ?? 'none',
      createdAt: now,
      updatedAt: now,
    }
  }

  async function findById(id: string, query: UserQuery = {}): Promise<User> {
    if (!validate(id)) fail('user_not_found')
    const user = await prisma.user.findUnique({ ...columnsOf(query), where: { id } })
    return user ?? fail('user_not_found')
  }

  async function findMany(caller: Principal, ids: readonly string[], query: UserQuery = {}): Promise<User[]> {
    const id = { in: validIds(ids).filter((id) => isVisibleTo(caller, { id })) }
    return id.in.length === 0 ? [] : prisma.user.findMany({ ...columnsOf(query), where: { id } })
  }

  async function replacePassword(
    caller: Principal,
    operation: AuditOperation,
    where: Prisma.UserWhereInput,
    passwordHash: string,
  ): Promise<User | undefined> {
    const data = { passwordHash, tokenEpoch: { increment: 1 }, updatedAt: runtime.now() }
    const replacing = prisma.user.updateManyAndReturn({ where, data })
    const [user] = await recorded(prisma, whoIs(caller), operation, replacing)
    return user
  }

  /**
   * Limits how often the current password can be tried, so that a stolen token cannot be used to guess it. Each attempt is
   * counted before the password is checked, so that parallel attempts cannot exceed the limit; the count is reverted if the
   * password is right.
   */
  async function requireCurrentPassword(id: string, passwordHash: string, current: string): Promise<void> {
    const limitKey = `password ${id}`
    await requirePoint(limits.login, limitKey)
    if (!(await passwords.verify(passwordHash, current))) refuseCurrentPassword()
    await limits.login.giveBack(limitKey)
  }

  /** The first suspension of a user is never refused; a repeated one is a write like any other. */
  async function isSuspended(id: string): Promise<boolean> {
    return (await prisma.user.findUnique({ where: { id }, select: { status: true } }))?.status === 'suspended'
  }

  return {
    /** @throws Problem `role_denied`, `invalid_request`, `rate_limited`, `username_taken` */
    async create(caller: Principal, input: NewUser, onLimit?: OnLimit): Promise<User> {
      requireAdmin(caller)
      await takeWrite(caller, onLimit)
      const data = await newRow(input)
      const creating = prisma.user.createManyAndReturn({ data, skipDuplicates: true })
      const [user] = await recorded(prisma, whoIs(caller), 'users.create', creating)
      return user ?? fail('username_taken', { field: ['username'], detail: 'is taken.' })
    },
    /** @throws Problem `role_denied`, `user_not_found` */
    async find(caller: Principal, id: string, query?: UserQuery): Promise<User> {
      requireAdmin(caller)
      return findById(id, query)
    },
    /**
     * The users with these ids that the caller may see, in one statement and in no particular order; an API key without
     * `admin` sees none.
     */
    findMany,
    /**
     * The users with these ids that {@link Users.find} finds, in one statement and in no particular order.
     *
     * @throws Problem `role_denied`
     */
    async findManaged(caller: Principal, ids: readonly string[], query?: UserQuery): Promise<User[]> {
      requireAdmin(caller)
      return findMany(caller, ids, query)
    },
    /**
     * Newest first, unless the query orders otherwise.
     *
     * @throws Problem `role_denied`, `invalid_request`; `unavailable`, `rate_limited` where a search or an order has to wait too
     * long
     */
    async list(caller: Principal, query: UserListQuery, filter: UserFilter = {}): Promise<Listed<User>[]> {
      requireAdmin(caller)
      const where = usersInSql(filter)
      const readKeyset = (keyset: Keyset) => prisma.user.findMany({ ...columnsOf(query), ...keyset })
      const readRows = (ids: readonly string[]) =>
        prisma.user.findMany({ ...columnsOf(query), where: { id: { in: [...ids] } } })
      return (
        readPlain(USER_ORDERS, query, where !== undefined, readKeyset) ??
        readOrdered(ordered, query, listing(caller, where), readRows)
      )
    },
    /** How many users {@link Users.list} has on all pages. */
    async count(caller: Principal, filter: UserFilter = {}, signal?: AbortSignal): Promise<number> {
      requireAdmin(caller)
      const where = usersInSql(filter)
      return where === undefined ? prisma.user.count() : countListed(ordered, listing(caller, where), signal)
    },
    /**
     * Finds a user by name, regardless of case.
     *
     * @throws Problem `role_denied`, `user_not_found`
     */
    async findByName(caller: Principal, username: string): Promise<User> {
      requireAdmin(caller)
      const name = normalizeUsername(username)
      const user = name && (await prisma.user.findUnique({ where: { usernameKey: usernameKey(name) } }))
      return user || fail('user_not_found', `There is no user "${username}".`)
    },
    /** Returns the caller's own user. */
    async me(caller: Principal, query?: UserQuery): Promise<User> {
      requireManager(caller)
      return findById(caller.userId, query)
    },
    /** Whether {@link findMany} finds a user that has been read already; never for an API key without `admin`. */
    isVisibleTo,
    /**
     * Changes a user. A suspension revokes the user's tokens.
     *
     * @throws Problem `role_denied`, `invalid_request`, `user_not_found`; `rate_limited`, except for a suspension; `last_admin` for a
     * change that would leave no active administrator
     */
    async update(caller: Principal, id: string, change: UserChange, onLimit?: OnLimit): Promise<User> {
      requireAdmin(caller)
      checkUser(change)
      if (!validate(id)) fail('user_not_found')
      if (change.status !== 'suspended' || (await isSuspended(id))) await takeWrite(caller, onLimit)
      return prisma.$transaction(async (tx) => {
        await tx.$executeRaw(sayWho(whoIs(caller), 'users.update'))
        return changeUser(tx, id, change)
      })
    },
    /** Sets a password and revokes the user's tokens. */
    async setPassword(caller: Principal, id: string, password: string): Promise<User> {
      requireAdmin(caller)
      checkUser({ password })
      if (!validate(id)) fail('user_not_found')
      const user = await replacePassword(caller, 'users.setPassword', { id }, await passwords.hash(password))
      return user ?? fail('user_not_found')
    },
    /**
     * Changes the caller's password and revokes its tokens.
     *
     * @throws Problem `invalid_request` if the current password is wrong, `rate_limited` after too many attempts
     */
    async changeOwnPassword(
      caller: Principal,
      { currentPassword, newPassword }: OwnPasswords,
    ): Promise<User> {
      requireManager(caller)
      const id = caller.userId
      checkOwnPasswords({ currentPassword, newPassword })
      const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id } })
      await requireCurrentPassword(id, passwordHash, currentPassword)
      // A key goes on after the change, so it could repeat it without end, with an event of the audit log each time.
      await requirePoint(limits.successfulLogins, `password ${id}`)
      // The hash in the condition makes the second of two concurrent changes fail: its current password has been replaced.
      const user = await replacePassword(
        caller,
        'users.changeOwnPassword',
        { id, passwordHash },
        await passwords.hash(newPassword),
      )
      return user ?? refuseCurrentPassword()
    },
    /** Whether any user exists. */
    async usersExist(): Promise<boolean> {
      return (await prisma.user.findFirst({ select: { id: true } })) !== null
    },
    /** Creates the first administrator; returns undefined without creating anything if any user exists. */
    async createFirstAdmin(credentials: { username: string; password: string }): Promise<User | undefined> {
      if ((await prisma.user.count()) > 0) return undefined
      const data = await newRow({ ...credentials, role: 'admin' })
      return prisma.$transaction(async (tx) => {
        // There is no row yet on which concurrent processes could wait for each other, so they lock the table.
        await tx.$executeRaw`LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE`
        await tx.$executeRaw(sayWho(GATEWAY, 'users.create'))
        return (await tx.user.count()) > 0 ? undefined : tx.user.create({ data })
      })
    },
  }
}

function listing({ userId: owner }: Principal, where: Prisma.Sql | undefined): Listing {
  return { where: where ?? Prisma.sql`true`, isFiltered: where !== undefined, isOfAll: true, owner }
}

function isVisibleTo(caller: Principal, { id }: Pick<User, 'id'>): boolean {
  return isAdmin(caller) || (isManager(caller) && id === caller.userId)
}

function refuseCurrentPassword(): never {
  refuseField(['currentPassword'], 'is not the current password.')
}

/** Only statements may be awaited in here: an embedded database has a single connection. */
async function changeUser(
  tx: Prisma.TransactionClient,
  id: string,
  { role, status, maxApiCalls, quotaPeriod }: UserChange,
): Promise<User> {
  // Locks the active administrators together with the user, so that two administrators cannot demote each other at the same
  // time, and no call of the user is admitted while its calls are counted. Every writer locks by id, to avoid deadlocks.
  await tx.$queryRaw`
    SELECT id FROM users WHERE id = ${id}::uuid OR (role = 'admin' AND status = 'active')
    ORDER BY id FOR NO KEY UPDATE`
  const user = (await tx.user.findUnique({ where: { id } })) ?? fail('user_not_found')
  const after = { role: role ?? user.role, status: status ?? user.status }
  if (isActiveAdmin(user) && !isActiveAdmin(after)) await requireAnotherAdmin(tx, id)

  const isSuspended = user.status === 'active' && after.status === 'suspended'
  const isRecounted = quotaPeriod !== undefined && quotaPeriod !== user.quotaPeriod
  return tx.user.update({
    where: { id },
    data: {
      ...after,
      ...(maxApiCalls !== undefined && { maxApiCalls }),
      ...(isRecounted && (await recount(tx, id, quotaPeriod))),
      ...(isSuspended && { tokenEpoch: { increment: 1 } }),
      // Read while the lock is held: by this time running calls end with their owner (keys/key-watch.ts).
      updatedAt: await databaseTime(tx),
    },
  })
}

function isActiveAdmin({ role, status }: Pick<User, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active'
}

async function requireAnotherAdmin(tx: Prisma.TransactionClient, id: string): Promise<void> {
  const others = await tx.user.count({ where: { role: 'admin', status: 'active', id: { not: id } } })
  if (others === 0) fail('last_admin')
}

/**
 * Counts the calls that the new period already contains, because a count from zero would grant the quota twice. It adds the
 * calls that have ended, from the owner's rollups, which are kept longer than the ledger, and those still running, as
 * `usage verify` does (core/ledger/verify.ts). The period begins by the database's clock, as in `ADMIT` of
 * core/ledger/admission-sql.ts, and like `periodStart` in quota-period.ts.
 */
async function recount(tx: Prisma.TransactionClient, id: string, quotaPeriod: QuotaPeriod) {
  const [row] = await tx.$queryRaw<{ start: Date; calls: bigint }[]>`
    WITH period AS MATERIALIZED (
      SELECT CASE ${quotaPeriod}::text WHEN 'none' THEN '1970-01-01 00:00:00+00'::timestamptz
        ELSE date_trunc(${quotaPeriod}::text, clock_timestamp(), 'UTC') END AS start
    ), unsettled AS MATERIALIZED (
      -- Materialized so that PostgreSQL uses the index of open calls. With the index of owners, it would read the owner's
      -- whole ledger.
      SELECT owner_id, kind, admitted_at FROM calls WHERE outcome IS NULL
    )
    SELECT start,
      (SELECT coalesce(sum(calls), 0)::int8 FROM rollups
        WHERE span = CASE ${quotaPeriod}::text WHEN 'day' THEN 'day'::rollup_span ELSE 'month' END
          AND grain = 'owner' AND subject = ${id} AND bucket >= start AND kind = 'chat')
      + (SELECT count(*) FROM unsettled
        WHERE owner_id = ${id}::uuid AND kind = 'chat' AND admitted_at >= start) AS calls
    FROM period`
  if (row === undefined) throw new Error('the calls of the user could not be counted')
  return { quotaPeriod, quotaStart: row.start, apiCallsCount: row.calls }
}
