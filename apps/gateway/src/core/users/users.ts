import { validate } from 'uuid'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import { fail, refuseField } from '#core/errors.ts'
import { requireOneOf, requireText } from '#core/input-rules.ts'
import type { Limits } from '#core/limits/limits.ts'
import { type ListQuery, readList } from '#core/pagination.ts'
import {
  isAdmin,
  isManager,
  type Principal,
  ROLES,
  type Role,
  requireAdmin,
  requireManager,
} from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Prisma, PrismaClient, QuotaPeriod, User, UserStatus } from '#generated/prisma/client.ts'
import type { Passwords } from './passwords.ts'
import {
  callsProblem,
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  passwordProblem,
  QUOTA_PERIODS,
  USER_STATUSES,
  usernameKey,
} from './rules.ts'

export interface NewUser {
  readonly username: string
  readonly password: string
  readonly role?: Role | undefined
  readonly maxApiCalls?: number | undefined
  readonly quotaPeriod?: QuotaPeriod | undefined
}

export interface UserChange {
  readonly role?: Role | undefined
  readonly status?: UserStatus | undefined
  readonly maxApiCalls?: number | undefined
  readonly quotaPeriod?: QuotaPeriod | undefined
}

export interface OwnPasswords {
  readonly currentPassword: string
  readonly newPassword: string
}

export interface UsersDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  readonly limits: Pick<Limits, 'login'>
  readonly passwords: Passwords
  readonly config: { readonly maxApiCalls: number }
}

/** Without it, whole rows come. */
export type UserQuery = Columns<Prisma.UserSelect, Prisma.UserInclude>

/**
 * Administrators manage users; everybody may read and secure the own account. Rows come as Prisma gives them, so that a
 * face names what it shows: they hold the password's hash. user.ts has what else can be said of a row.
 */
export interface Users {
  create(caller: Principal, input: NewUser): Promise<User>
  /** @throws Problem `user_not_found` */
  find(caller: Principal, id: string, query?: UserQuery): Promise<User>
  /** Without regard to case. */
  findByName(caller: Principal, username: string): Promise<User>
  /** Newest first. */
  list(caller: Principal, query: ListQuery & UserQuery): Promise<User[]>
  count(caller: Principal): Promise<number>
  me(caller: Principal, query?: UserQuery): Promise<User>
  /**
   * Which users a relation may lead the caller to: administrators see all, others themselves. To be joined to a statement
   * by `AND`: spread into one that names an id, it would replace that id.
   */
  visibleTo(caller: Principal): Prisma.UserWhereInput
  /**
   * The same condition of a row that has been read, for relations to one row, which Prisma cannot filter. False for an API
   * key without `admin`.
   */
  isVisibleTo(caller: Principal, user: Pick<User, 'id'>): boolean
  /** A suspension ends the user's tokens. The last active administrator stays one. */
  update(caller: Principal, id: string, change: UserChange): Promise<User>
  /** Ends the user's tokens, as every change of a password does. */
  setPassword(caller: Principal, id: string, password: string): Promise<User>
  changeOwnPassword(caller: Principal, passwords: OwnPasswords): Promise<User>
}

/** The start of an installation, when nobody is there yet who could ask for anything. */
export interface FirstStart {
  /** Whether there is any user. */
  exist(): Promise<boolean>
  /** Makes the administrator of a first start; undefined where there is any user already. */
  firstAdmin(credentials: { username: string; password: string }): Promise<User | undefined>
}

export function createUsers({ prisma, runtime, limits, passwords, config }: UsersDeps): Users & FirstStart {
  async function newRow(input: NewUser): Promise<Prisma.UserCreateManyInput> {
    const username = normalizeUsername(input.username)
    if (username === undefined) {
      refuseField(['username'], 'expected 3 to 64 letters, digits and . _ - @.')
    }
    checkChange(input)
    const passwordHash = await hashNew(input.password, 'password')
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

  async function hashNew(password: string, field: string): Promise<string> {
    const problem = passwordProblem(password)
    if (problem !== undefined) refuseField([field], `${problem}.`)
    return passwords.hash(password)
  }

  async function replacePassword(
    where: Prisma.UserWhereInput,
    passwordHash: string,
  ): Promise<User | undefined> {
    const data = { passwordHash, tokenEpoch: { increment: 1 }, updatedAt: runtime.now() }
    const [user] = await prisma.user.updateManyAndReturn({ where, data })
    return user
  }

  /**
   * A stolen token must not serve to try passwords. Each try is counted before it is judged, so that a burst of them gets no
   * further than the limit; the right password costs nothing in the end.
   */
  async function requireCurrentPassword(id: string, passwordHash: string, current: string): Promise<void> {
    const guesses = `password ${id}`
    const verdict = await limits.login.take(guesses)
    if (!verdict.allowed) {
      fail('rate_limited', { detail: 'Too many wrong passwords.', retryAfterSeconds: verdict.resetSeconds })
    }
    if (!(await passwords.verify(passwordHash, current))) refuseCurrentPassword()
    await limits.login.giveBack(guesses)
  }

  return {
    async create(caller, input) {
      requireAdmin(caller)
      const data = await newRow(input)
      const [user] = await prisma.user.createManyAndReturn({ data, skipDuplicates: true })
      return user ?? fail('username_taken')
    },
    async find(caller, id, query) {
      requireAdmin(caller)
      return findById(id, query)
    },
    async list(caller, query) {
      requireAdmin(caller)
      return readList(query, (keyset) => prisma.user.findMany({ ...columnsOf(query), ...keyset }))
    },
    async count(caller) {
      requireAdmin(caller)
      return prisma.user.count()
    },
    async findByName(caller, username) {
      requireAdmin(caller)
      const name = normalizeUsername(username)
      const user = name && (await prisma.user.findUnique({ where: { usernameKey: usernameKey(name) } }))
      return user || fail('user_not_found', `There is no user "${username}".`)
    },
    async me(caller, query) {
      requireManager(caller)
      return findById(caller.userId, query)
    },
    visibleTo(caller) {
      requireManager(caller)
      return isAdmin(caller) ? {} : { id: caller.userId }
    },
    isVisibleTo: (caller, { id }) => isAdmin(caller) || (isManager(caller) && id === caller.userId),
    async update(caller, id, change) {
      requireAdmin(caller)
      checkChange(change)
      if (!validate(id)) fail('user_not_found')
      return prisma.$transaction((tx) => changeUser(tx, id, change, runtime.now()))
    },
    async setPassword(caller, id, password) {
      requireAdmin(caller)
      if (!validate(id)) fail('user_not_found')
      const user = await replacePassword({ id }, await hashNew(password, 'password'))
      return user ?? fail('user_not_found')
    },
    async changeOwnPassword(caller, { currentPassword, newPassword }) {
      requireManager(caller)
      const id = caller.userId
      // Hashing takes longer the longer the text is.
      requireText(['currentPassword'], currentPassword, PASSWORD_CHARACTERS_MAX)
      const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id } })
      await requireCurrentPassword(id, passwordHash, currentPassword)
      // Only over the password that was checked: of two changes at once, the second one's is no longer current.
      const user = await replacePassword({ id, passwordHash }, await hashNew(newPassword, 'newPassword'))
      return user ?? refuseCurrentPassword()
    },
    async exist() {
      return (await prisma.user.findFirst({ select: { id: true } })) !== null
    },
    async firstAdmin(credentials) {
      if ((await prisma.user.count()) > 0) return undefined
      const data = await newRow({ ...credentials, role: 'admin' })
      return prisma.$transaction(async (tx) => {
        // No row exists yet that two processes could meet at.
        await tx.$executeRaw`LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE`
        return (await tx.user.count()) > 0 ? undefined : tx.user.create({ data })
      })
    },
  }
}

function refuseCurrentPassword(): never {
  refuseField(['currentPassword'], 'is not the current password.')
}

/** The rules of a user's properties, for every face: not each of them has a schema that checks them first. */
function checkChange({ role, status, maxApiCalls, quotaPeriod }: UserChange): void {
  requireOneOf(['role'], ROLES, role)
  requireOneOf(['status'], USER_STATUSES, status)
  requireOneOf(['quotaPeriod'], QUOTA_PERIODS, quotaPeriod)
  const problem = maxApiCalls === undefined ? undefined : callsProblem(maxApiCalls)
  if (problem !== undefined) refuseField(['maxApiCalls'], `${problem}.`)
}

/** Nothing but statements may be awaited in here: an embedded database has one connection for everybody. */
async function changeUser(
  tx: Prisma.TransactionClient,
  id: string,
  { role, status, maxApiCalls, quotaPeriod }: UserChange,
  now: Date,
): Promise<User> {
  // The administrators are locked with the user, by id as every writer does: two of them cannot demote each other at once,
  // and no call is admitted while its user's calls are counted.
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
      updatedAt: now,
    },
  })
}

function isActiveAdmin({ role, status }: { role: Role; status: UserStatus }): boolean {
  return role === 'admin' && status === 'active'
}

async function requireAnotherAdmin(tx: Prisma.TransactionClient, id: string): Promise<void> {
  const others = await tx.user.count({ where: { role: 'admin', status: 'active', id: { not: id } } })
  if (others === 0) fail('last_admin')
}

/**
 * How many calls the new period has seen already: from zero, a change would grant the quota twice. The same sums as in
 * `usage verify`: the calls that have ended, by the rollups of the owner, which outlive the ledger, and those under way. The
 * period begins by the database's clock, as for every admission.
 */
async function recount(tx: Prisma.TransactionClient, id: string, quotaPeriod: QuotaPeriod) {
  const [row] = await tx.$queryRaw<{ start: Date; calls: bigint }[]>`
    WITH period AS MATERIALIZED (
      SELECT CASE ${quotaPeriod}::text WHEN 'none' THEN '1970-01-01 00:00:00+00'::timestamptz
        ELSE date_trunc(${quotaPeriod}::text, clock_timestamp(), 'UTC') END AS start
    ), unsettled AS MATERIALIZED (
      -- By the index of the open calls alone: by the owner's it would be that owner's whole ledger.
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
