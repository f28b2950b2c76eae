import { v7 } from 'uuid'
import { createKeys, type Keys } from '#core/accounts/keys/keys.ts'
import { createPasswords, type Passwords } from '#core/accounts/users/passwords.ts'
import { usernameKey } from '#core/accounts/users/user-rules.ts'
import { createUsers, type FirstStart, type Users } from '#core/accounts/users/users.ts'
import { type Audit, createAudit } from '#core/audit/audit.ts'
import { type Runtime, systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { AMPLE_SPACE } from '#core/database/disk/disk-space.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createLimits, type LimitRule, type Limits } from '#core/limits/limits.ts'
import { createReads, type Reads } from '#core/limits/sharing/reads.ts'
import { createSmallReads, type SmallReads } from '#core/limits/sharing/small-reads.ts'
import { createTakeWrite, type TakeWrite } from '#core/limits/writes.ts'
import type { Permission, Principal, Role } from '#core/requests/principal.ts'
import { type Authentication, createAuthentication } from './authenticate.ts'
import { createLogin, type Login } from './login.ts'
import { createTokens, type Tokens } from './tokens.ts'

/** Login, users and keys on a scratch database, as their tests share them. */
export interface UserServices {
  readonly database: Database
  readonly runtime: Runtime
  readonly limits: Limits
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly audit: Audit
  readonly login: Login
  readonly authentication: Authentication
  readonly users: Users & FirstStart
  readonly keys: Keys
  readonly takeWrite: TakeWrite
  readonly reads: SmallReads
  /** The turns of searches. */
  readonly searches: Reads
  readonly clock: { passSeconds(seconds: number): void }
  /** Creates a user with the password {@link PASSWORD}, and returns it as a caller with an access token. */
  join(role: Role, username?: string): Promise<Principal>
  /** Creates an API key, and returns it with the caller that presents it. */
  keyOf(creator: Principal, options?: KeyOptions): Promise<{ id: string; fullKey: string; caller: Principal }>
  /** Deletes all users, keys and calls. */
  clear(): Promise<void>
}

interface KeyOptions {
  readonly permissions?: Permission[]
  readonly ownerId?: string
  readonly allowedAgents?: string[]
}

export const PASSWORD = 'correct horse battery staple'
/** Cheap parameters, because only `passwords.test.ts` is about the cost of hashing. */
const LIGHT_HASHING = { memoryCost: 8, timeCost: 1, parallelism: 1 }
export const TOKEN_CONFIG = { lifetimeSeconds: 3600, issuer: 'trunkline', audience: 'trunkline-api' }

/** Opens the services on a new database of this server, or on an embedded one if no server is given. */
export async function openUserServices(serverUrl?: string): Promise<UserServices> {
  const database = await openScratchDatabase(serverUrl)
  const { prisma, sql } = database
  let offsetMs = 0
  const runtime = {
    ...systemRuntime,
    now: () => new Date(Date.now() + offsetMs),
    elapsedMs: () => systemRuntime.elapsedMs() + offsetMs,
  }
  const limits = createLimits({
    chat: perMinute(60),
    upload: perMinute(10),
    agents: perMinute(30),
    reports: perMinute(30),
    calls: perMinute(30),
    reads: perMinute(600),
    login: perMinute(10),
    loginAddress: perMinute(100),
    writes: perMinute(10_000),
    adminWrites: perMinute(10_000),
    successfulLogins: perMinute(10_000),
    refusedKeys: perMinute(60),
    refusedDocuments: perMinute(60),
  })
  const passwords = createPasswords(LIGHT_HASHING)
  const tokens = createTokens({ prisma, runtime, config: TOKEN_CONFIG })
  const audit = createAudit({ sql })
  const login = createLogin({ prisma, sql, runtime, limits, passwords, tokens, audit })
  const authentication = createAuthentication({
    sql,
    uses: sql,
    space: AMPLE_SPACE,
    limits,
    tokens,
    endUsers: { endUserRequired: false },
  })
  const searches = createReads(database.kind)
  const takeWrite = createTakeWrite(limits)
  const users = createUsers({
    prisma,
    runtime,
    limits,
    passwords,
    reads: searches,
    takeWrite,
    config: { maxApiCalls: 1_000_000 },
  })
  const rules = {
    catalog: { knownIds: () => new Set(['fastgpt', 'dify']) },
    limits: { chat: perMinute(60), upload: perMinute(10) },
  }
  const keys = createKeys({
    sql,
    prisma,
    runtime,
    reads: searches,
    takeWrite,
    rules: { ...rules, maxLifetimeDays: 3650, activePerUserMax: 1_000, createdPerDayMax: 1_000 },
  })
  // All users share one hash, since most tests need them only as callers.
  const passwordHash = await passwords.hash(PASSWORD)

  return {
    database,
    runtime,
    limits,
    passwords,
    tokens,
    audit,
    login,
    authentication,
    users,
    keys,
    searches,
    takeWrite,
    reads: createSmallReads({ limits, runtime }),
    clock: {
      passSeconds(seconds) {
        offsetMs += seconds * 1000
      },
    },
    async join(role, username = `user-${v7()}`) {
      const id = v7()
      const now = runtime.now()
      const columns = { username, usernameKey: usernameKey(username), passwordHash, maxApiCalls: 100 }
      await prisma.user.create({ data: { id, role, ...columns, createdAt: now, updatedAt: now } })
      return {
        userId: id,
        role,
        via: { kind: 'token', tokenId: v7(), expiresAt: new Date(now.getTime() + 60_000) },
      }
    },
    async keyOf(creator, { permissions = ['chat'], ownerId, allowedAgents }: KeyOptions = {}) {
      const expiresAt = new Date(runtime.now().getTime() + 86_400_000).toISOString()
      const input = { name: 'a key', description: '', expiresAt, permissions, ownerId, allowedAgents }
      const { key, fullKey } = await keys.create(creator, input)
      return {
        id: key.id,
        fullKey,
        caller: await authentication.authenticate(
          fullKey,
          { address: '127.0.0.1', requestId: 'test' },
          () => undefined,
        ),
      }
    },
    async clear() {
      await sql.query('TRUNCATE users, api_keys, calls, uploads, upload_copies, revoked_tokens, signing_keys')
    },
  }
}

function perMinute(points: number): LimitRule {
  return { points, windowSeconds: 60 }
}
