import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTokens } from '#core/accounts/auth/tokens.ts'
import {
  openUserServices,
  PASSWORD,
  TOKEN_CONFIG,
  type UserServices,
} from '#core/accounts/auth/users.test-support.ts'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import { createKeys } from '#core/accounts/keys/keys.ts'
import type { Problem } from '#core/base/errors/errors.ts'
import { createLedger } from '#core/ledger/ledger.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createUsers } from './users.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

/** An embedded database runs one statement after another, so only a server can show that the locks work. */
describe(kind, () => {
  let services: UserServices
  let admin: Principal

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
  })
  beforeEach(async () => {
    await services.clear()
    admin = await services.join('admin')
  })
  afterAll(() => services?.database.close())

  test('of concurrent requests for the same username, one succeeds', async () => {
    const names = ['alice', 'ALICE', 'Alice']
    const answers = names.map((username) =>
      reasonOf(services.users.create(admin, { username, password: PASSWORD })),
    )
    expect((await Promise.all(answers)).sort()).toEqual(['done', 'username_taken', 'username_taken'])
  })

  test('admins who demote each other at the same time leave one admin', async () => {
    const { users } = services
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [await services.join('admin'), await services.join('admin')]
      await services.database.prisma.user.updateMany({
        where: { id: { notIn: [one.userId, two.userId] } },
        data: { role: 'user' },
      })
      const answers = await Promise.all([
        reasonOf(users.update(one, two.userId, { role: 'user' })),
        reasonOf(users.update(two, one.userId, { status: 'suspended' })),
      ])
      expect(answers.sort()).toEqual(['done', 'last_admin'])
    }
  })

  test('concurrently created keys do not exceed the maximum of a user', async () => {
    const { prisma } = services.database
    const limits = { chat: { points: 60, windowSeconds: 60 }, upload: { points: 10, windowSeconds: 60 } }
    const rules = {
      catalog: { knownIds: () => new Set<string>() },
      limits,
      maxLifetimeDays: 3_650,
      activePerUserMax: 5,
      createdPerDayMax: 1_000,
    }
    // Two processes, because one of them queues its creations.
    const processes = [1, 2].map(() =>
      createKeys({ ...services, ...services.database, prisma, reads: services.searches, rules }),
    )
    const [owner, other] = [await services.join('premium'), await services.join('premium')]
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const input = { name: 'a key', description: '', permissions: ['chat' as const], expiresAt }
    const create = (caller: Principal, ownerId: string, index: number) =>
      processes[index % 2]?.create(caller, { ...input, ownerId })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        reasonOf(Promise.resolve(create(index % 3 === 0 ? admin : owner, owner.userId, index))),
      ),
    )
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(5)
    expect(answers.filter((answer) => answer === 'too_many_keys')).toHaveLength(15)
    expect(await reasonOf(Promise.resolve(create(other, other.userId, 0)))).toBe('done')

    const [key] = await prisma.apiKey.findMany({ where: { ownerId: owner.userId } })
    await services.keys.revoke(owner, key?.id ?? '')
    expect(await reasonOf(Promise.resolve(create(owner, owner.userId, 0)))).toBe('done')
    await prisma.apiKey.updateMany({ where: { ownerId: owner.userId }, data: { expiresAt: new Date() } })
    expect(await reasonOf(Promise.resolve(create(owner, owner.userId, 0)))).toBe('done')

    // One key is active now, and five have expired, of which four may become active again.
    const expired = await prisma.apiKey.findMany({
      where: { ownerId: owner.userId, revokedAt: null, expiresAt: { lte: new Date() } },
    })
    const prolonged = await Promise.all(
      [...expired, ...expired].map(({ id }, index) =>
        reasonOf(Promise.resolve(processes[index % 2]?.update(admin, id, { expiresAt }))),
      ),
    )
    expect(
      await prisma.apiKey.count({ where: { ownerId: owner.userId, expiresAt: { gt: new Date() } } }),
    ).toBe(5)
    expect(prolonged).toContain('too_many_keys')
  })

  test('of two concurrent changes of a password, the second fails for its old password', async () => {
    const user = await services.join('user')
    const answers = ['new password 1', 'new password 2'].map((newPassword) =>
      reasonOf(services.users.changeOwnPassword(user, { currentPassword: PASSWORD, newPassword })),
    )
    expect((await Promise.all(answers)).sort()).toEqual(['done', 'invalid_request'])
  })

  test('keys that are made at the same time are no more than a user may get on one day, the revoked ones included', async () => {
    const { prisma } = services.database
    const limits = { chat: { points: 60, windowSeconds: 60 }, upload: { points: 10, windowSeconds: 60 } }
    const bounds = { maxLifetimeDays: 3_650, activePerUserMax: 1_000, createdPerDayMax: 5 }
    const rules = { catalog: { knownIds: () => new Set<string>() }, limits, ...bounds }
    const processes = [1, 2].map(() =>
      createKeys({ ...services, ...services.database, prisma, reads: services.searches, rules }),
    )
    const owner = await services.join('premium')
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const input = { name: 'a key', description: '', permissions: ['chat' as const], expiresAt }
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const keys = processes[n % 2]
        const made = await keys?.create(owner, input).catch(({ reason }: Problem) => reason)
        if (typeof made === 'object') await keys?.revoke(owner, made.key.id)
        return typeof made === 'object' ? 'made' : made
      }),
    )
    expect(answers.filter((answer) => answer === 'made')).toHaveLength(5)
    expect(answers.filter((answer) => answer === 'too_many_new_keys')).toHaveLength(15)
  })

  test('processes that start at the same time create one first admin', async () => {
    const { prisma } = services.database
    const passwords = { ...services.passwords, hash: async () => 'a hash' }
    const users = createUsers({
      ...services,
      prisma,
      passwords,
      reads: services.searches,
      config: { maxApiCalls: 1 },
    })
    for (let round = 0; round < 10; round += 1) {
      await services.clear()
      const start = (username: string) => users.createFirstAdmin({ username, password: PASSWORD })
      const made = await Promise.all(['root', 'other', 'root'].map(start))
      expect(made.filter((user) => user?.role === 'admin')).toHaveLength(1)
      expect(await prisma.user.count()).toBe(1)
    }
  })

  test('processes that start at the same time sign with the same key and accept all keys', async () => {
    const { runtime } = services
    const { prisma } = services.database
    const processes = [1, 2, 3].map(() => createTokens({ prisma, runtime, config: TOKEN_CONFIG }))
    await Promise.all(processes.map((tokens) => tokens.prepare()))
    const user = await prisma.user.findUniqueOrThrow({ where: { id: admin.userId } })
    const issued = await Promise.all(processes.map((tokens) => tokens.issue(user)))
    const headers = issued.map(({ accessToken }) => accessToken.split('.')[0])
    expect(new Set(headers).size).toBe(1)
    for (const tokens of processes) for (const { accessToken } of issued) await tokens.verify(accessToken)
  })

  test('no call is lost when a quota period changes under load', async () => {
    const { users, runtime, database } = services
    const { id: keyId, fullKey } = await services.keyOf(admin)
    const ledger = createLedger({
      sql: database.sql,
      runtime,
      instanceId: v7(),
      observer: { batch() {}, settleFailed() {} },
    })
    await users.update(admin, admin.userId, { maxApiCalls: 1_000 })
    const call = {
      keyId,
      keyHash: hashKey(fullKey),
      address: '',
      kind: 'chat',
      face: 'rest',
      agent: 'dify',
    } as const
    const rest = { requestId: '', app: '', endUser: '', conversation: '' }
    const work: Promise<unknown>[] = []
    for (const quotaPeriod of ['day', 'month', 'none', 'day', 'month'] as const) {
      for (let count = 0; count < 10; count += 1) {
        work.push(new Promise(setImmediate).then(() => ledger.admit({ ...call, ...rest, callId: v7() })))
      }
      work.push(users.update(admin, admin.userId, { quotaPeriod }))
      await new Promise(setImmediate)
    }
    await Promise.all(work)
    expect((await users.me(admin)).apiCallsCount).toBe(50n)
  })
})

function reasonOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  )
}
