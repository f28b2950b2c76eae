import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { quotaOf } from '#core/accounts/users/user.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import { periodStart } from '#core/ledger/quota-period.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import {
  allowedAgentsOf,
  callsThisMonth,
  callsToday,
  type KeyState,
  permissionsOf,
  stateOf,
  totalCalls,
} from './key.ts'
import { hashKey, isWellFormedKey } from './key-format.ts'
import type { NewKey } from './key-input.ts'
import { createKeys, type Keys } from './keys.ts'

let services: UserServices
let keys: Keys
let admin: Principal
let premium: Principal

beforeAll(async () => {
  services = await openUserServices()
  keys = services.keys
})
beforeEach(async () => {
  await services.clear()
  admin = await services.join('admin')
  premium = await services.join('premium')
})
afterAll(() => services.database.close())

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  )

const inDays = (days: number) => new Date(services.runtime.now().getTime() + days * 86_400_000).toISOString()

const input = (change: Partial<NewKey> = {}): NewKey => ({
  name: 'support bot',
  description: 'Answers.\nOn the help page.',
  expiresAt: inDays(30),
  permissions: ['chat'],
  ...change,
})

test('a created key is shown once and stored as its hash', async () => {
  const expiresAt = inDays(30)
  const { key, fullKey } = await keys.create(premium, input({ expiresAt }))
  expect(isWellFormedKey(fullKey)).toBe(true)
  expect(key).toMatchObject({
    name: 'support bot',
    description: 'Answers.\nOn the help page.',
    prefix: fullKey.slice(0, 12),
    expiresAt: new Date(expiresAt),
    revokedAt: null,
    createdById: premium.userId,
    ownerId: premium.userId,
    chatPerMinute: null,
    uploadPerMinute: null,
    lastUsedAt: null,
  })
  expect([permissionsOf(key), allowedAgentsOf(key)]).toEqual([['chat'], null])
  expect(stateOf(key, services.runtime.now())).toBe('active')
  const row = await services.database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })
  expect(Buffer.from(row.hash).toString('hex')).toBe(hashKey(fullKey))
  expect(Object.values(row).map(String)).not.toContain(fullKey)
})

test('only admin and premium users create keys, by token, and only admins grant admin or name another owner', async () => {
  const user = await services.join('user')
  const key = await services.keyOf(admin, { permissions: ['admin'] })
  const create = (caller: Principal, change?: Partial<NewKey>) => reasonOf(keys.create(caller, input(change)))
  expect(await create(user)).toBe('role_denied')
  expect(await create(key.caller)).toBe('access_token_required')
  expect(await create(premium, { permissions: ['chat', 'admin'] })).toBe('role_denied')
  expect(await create(premium, { ownerId: user.userId })).toBe('role_denied')
  expect(await create(premium, { ownerId: premium.userId })).toBe('done')
  expect(await create(admin, { ownerId: user.userId, permissions: ['admin'] })).toBe('done')
})

test('an owner must exist and be active', async () => {
  const gone = await services.join('user')
  await services.users.update(admin, gone.userId, { status: 'suspended' })
  for (const ownerId of [gone.userId, v7()]) {
    await expect(keys.create(admin, input({ ownerId }))).rejects.toMatchObject({
      reason: 'invalid_request',
      detail: 'ownerId: expected the id of an active user.',
    })
  }
})

test.each<[string, Partial<NewKey> | (() => Partial<NewKey>)]>([
  ['name', { name: '  ' }],
  ['name', { name: 'x'.repeat(101) }],
  ['name', { name: 'a\nb' }],
  ['name', { name: 'a\ud800' }],
  ['description', { description: 'x'.repeat(501) }],
  ['description', { description: 'a\0b' }],
  ['permissions', { permissions: [] }],
  ['permissions[0]', { permissions: ['CHAT'] }],
  ['permissions[1]', { permissions: ['chat', 'root'] }],
  ['permissions[0]', { permissions: [''] }],
  ['expiresAt', { expiresAt: '2040-01-01T00:00:00' }],
  ['expiresAt', () => ({ expiresAt: inDays(0) })],
  ['expiresAt', () => ({ expiresAt: inDays(3651) })],
  ['allowedAgents', { allowedAgents: [] }],
  ['allowedAgents', { allowedAgents: Array.from({ length: 51 }, (_, app) => `dify/${app}`) }],
  ['allowedAgents[1]', { allowedAgents: ['dify', 'nobody'] }],
  ['allowedAgents[0]', { allowedAgents: ['dify/'] }],
  ['allowedAgents[0]', { allowedAgents: ['Dify'] }],
  ['limits.chatPerMinute', { limits: { chatPerMinute: 601 } }],
  ['limits.chatPerMinute', { limits: { chatPerMinute: 0 } }],
  ['limits.uploadPerMinute', { limits: { uploadPerMinute: 101 } }],
])('an invalid %s is rejected by its name (case %#)', async (field, change) => {
  const wrong = typeof change === 'function' ? change() : change
  await expect(keys.create(admin, input(wrong))).rejects.toMatchObject({
    reason: 'invalid_request',
    detail: expect.stringContaining(`${field}: `),
  })
})

describe('a new expiry', () => {
  const expire = (id: string) =>
    services.database.prisma.apiKey.update({ where: { id }, data: { expiresAt: new Date(0) } })
  const authenticated = ({ fullKey }: { fullKey: string }) =>
    reasonOf(services.authentication.authenticate(fullKey, { address: '192.0.2.1', requestId: '' }, () => ''))
  const operationsOf = async (targetId: string) => {
    const events = await auditEventsOf(services.database.sql, { target_id: targetId })
    return events.map(({ operation }) => operation)
  }

  test('ends an active key sooner or later', async () => {
    const { id } = await services.keyOf(premium)
    for (const expiresAt of [inDays(1), inDays(300)]) {
      expect((await keys.update(premium, id, { expiresAt })).expiresAt).toEqual(new Date(expiresAt))
    }
    expect(await operationsOf(id)).toEqual(['keys.create', 'keys.update', 'keys.update'])
  })

  test('makes an expired key active again, which is an event of its own', async () => {
    const key = await services.keyOf(premium)
    await expire(key.id)
    expect(await authenticated(key)).toBe('key_expired')
    await keys.update(premium, key.id, { expiresAt: inDays(1), name: 'prolonged' })
    expect(await authenticated(key)).toBe('done')
    expect((await operationsOf(key.id)).slice(-1)).toEqual(['api_keys.extend_expired'])
  })

  test('leaves a revoked key revoked', async () => {
    const key = await services.keyOf(premium)
    await keys.revoke(premium, key.id)
    await expire(key.id)
    const { revokedAt } = await keys.update(premium, key.id, { expiresAt: inDays(1) })
    expect(revokedAt).not.toBeNull()
    expect(await authenticated(key)).toBe('key_revoked')
    expect((await operationsOf(key.id)).slice(-1)).toEqual(['keys.update'])
  })

  test('is given by those who may change the key', async () => {
    const { id } = await services.keyOf(admin, { ownerId: premium.userId })
    const change = { expiresAt: inDays(1) }
    expect(await reasonOf(keys.update(premium, id, change))).toBe('role_denied')
    expect(await reasonOf(keys.update(await services.join('premium'), id, change))).toBe('key_not_found')
    expect(await reasonOf(keys.update(admin, id, change))).toBe('done')
  })
})

test('an unknown period cannot be reset', async () => {
  const key = await services.keyOf(premium)
  for (const period of ['year', 'constructor', '']) {
    const untyped = JSON.parse(JSON.stringify(period))
    await expect(keys.resetUsage(premium, key.id, untyped)).rejects.toMatchObject({
      reason: 'invalid_request',
      detail: 'period: expected one of day, month, total.',
    })
  }
})

describe('permissions on a key that one user created for another', () => {
  const operations = {
    find: (caller: Principal, id: string) => keys.find(caller, id),
    update: (caller: Principal, id: string) => keys.update(caller, id, { name: 'renamed' }),
    revoke: (caller: Principal, id: string) => keys.revoke(caller, id),
  }
  const expected = {
    admin: { find: 'done', update: 'done', revoke: 'done', isListed: true },
    creator: { find: 'done', update: 'done', revoke: 'done', isListed: true },
    owner: { find: 'done', update: 'role_denied', revoke: 'done', isListed: true },
    stranger: { find: 'key_not_found', update: 'key_not_found', revoke: 'key_not_found', isListed: false },
  }

  test.each(Object.keys(expected) as (keyof typeof expected)[])('%s', async (who) => {
    const owner = await services.join('user')
    const creator = await services.join('admin')
    const { id } = await services.keyOf(creator, { ownerId: owner.userId })
    // The creator is no longer an admin and has only the rights of the key's creator.
    await services.users.update(admin, creator.userId, { role: 'premium' })
    const callers = { admin, creator: { ...creator, role: 'premium' as const }, owner, stranger: premium }
    const caller = callers[who]

    const { isListed, ...answers } = expected[who]
    for (const [name, answer] of Object.entries(answers)) {
      expect(await reasonOf(operations[name as keyof typeof operations](caller, id)), name).toBe(answer)
    }
    const listed = await keys.list(caller, { take: 10 })
    expect(listed.some((key) => key.id === id)).toBe(isListed)
    expect(await keys.count(caller)).toBe(listed.length)
  })
})

test("another user's key, an unknown id and an invalid id give the same error", async () => {
  const { id } = await services.keyOf(admin)
  for (const unknown of [id, v7(), 'nonsense', '\0']) {
    for (const work of [
      keys.find(premium, unknown),
      keys.update(premium, unknown, {}),
      keys.revoke(premium, unknown),
    ]) {
      await expect(work).rejects.toMatchObject({
        reason: 'key_not_found',
        detail: 'This API key does not exist.',
      })
    }
  }
})

test('an API key with the permission admin manages keys with the rights of its owner', async () => {
  const plain = await services.join('user')
  const acting = await services.keyOf(admin, { ownerId: plain.userId, permissions: ['admin'] })
  const foreign = await services.keyOf(premium)
  expect(await reasonOf(keys.find(acting.caller, acting.id))).toBe('done')
  expect(await reasonOf(keys.find(acting.caller, foreign.id))).toBe('key_not_found')
})

test('a change sets the named fields, null resets them, and other fields stay', async () => {
  const { id } = await services.keyOf(premium)
  const before = await keys.find(premium, id)
  const limited = await keys.update(premium, id, {
    name: 'renamed',
    allowedAgents: ['dify', 'fastgpt/app 1', 'dify'],
    limits: { chatPerMinute: 5, uploadPerMinute: 2 },
  })
  expect(limited).toEqual({
    ...before,
    name: 'renamed',
    nameKey: 'renamed',
    allowedAgents: ['dify', 'fastgpt/app 1'],
    chatPerMinute: 5,
    uploadPerMinute: 2,
  })
  const partly = await keys.update(premium, id, { limits: { chatPerMinute: null } })
  expect(partly).toMatchObject({ chatPerMinute: null, uploadPerMinute: 2 })
  expect(await keys.update(premium, id, {})).toEqual(partly)
  const cleared = await keys.update(premium, id, { name: before.name, allowedAgents: null, limits: null })
  expect(cleared).toEqual(before)
})

test('a revocation takes effect at once, and a repetition keeps the first time', async () => {
  const { id, fullKey } = await services.keyOf(premium)
  const first = await keys.revoke(premium, id)
  expect(stateOf(first, services.runtime.now())).toBe('revoked')
  services.clock.passSeconds(60)
  expect(await keys.revoke(admin, id)).toEqual(first)
  expect(
    await reasonOf(
      services.authentication.authenticate(
        fullKey,
        { address: '10.0.0.1', requestId: 'test' },
        () => undefined,
      ),
    ),
  ).toBe('key_revoked')
})

test('a key is no longer active once it has expired', async () => {
  const { key } = await keys.create(premium, input({ expiresAt: inDays(1) }))
  expect(stateOf(key, services.runtime.now())).toBe('active')
  services.clock.passSeconds(86_400)
  expect(stateOf(key, services.runtime.now())).toBe('expired')
})

test('pages go from the newest to the oldest key and contain only own keys', async () => {
  const ids: string[] = []
  for (let count = 0; count < 5; count += 1) {
    ids.unshift((await services.keyOf(premium)).id)
    await services.keyOf(admin)
  }
  const page = (cursor?: string) =>
    readOrderedPage({ limit: 3, cursor }, (query) => keys.list(premium, query, { ownerId: premium.userId }))
  const first = await page()
  const second = await page(first.nextCursor ?? undefined)
  expect([...first.items, ...second.items].map((key) => key.id)).toEqual(ids)
  expect(second.nextCursor).toBeNull()
})

test('counters of a past day or month are shown as zero', async () => {
  const { id } = await services.keyOf(premium)
  const now = services.runtime.now()
  const counted = { totalCalls: 9, dayCalls: 2, monthCalls: 5, lastUsedAt: now }
  const starts = { dayStart: periodStart('day', now), monthStart: periodStart('month', now) }
  const usageWith = async (data: object) => {
    await services.database.prisma.apiKey.update({ where: { id }, data: { ...counted, ...data } })
    const key = await keys.find(premium, id)
    return {
      totalCalls: totalCalls(key),
      callsToday: callsToday(key, now),
      callsThisMonth: callsThisMonth(key, now),
    }
  }
  const usage = { totalCalls: 9, callsToday: 2, callsThisMonth: 5 }
  expect(await usageWith(starts)).toEqual(usage)
  const yesterday = new Date(starts.dayStart.getTime() - 1)
  expect(await usageWith({ ...starts, dayStart: yesterday })).toEqual({ ...usage, callsToday: 0 })
  const before = new Date(starts.monthStart.getTime() - 1)
  expect(await usageWith({ dayStart: before, monthStart: before })).toMatchObject({
    callsToday: 0,
    callsThisMonth: 0,
  })
})

test('a key can read itself with its effective limits and the quota of its owner', async () => {
  const key = await services.keyOf(premium)
  await keys.update(premium, key.id, { limits: { chatPerMinute: 5 } })
  await services.users.update(admin, premium.userId, { quotaPeriod: 'day', maxApiCalls: 10 })
  const counted = { apiCallsCount: 4, quotaStart: periodStart('day', services.runtime.now()) }
  await services.database.prisma.user.update({ where: { id: premium.userId }, data: counted })
  const current = await keys.current(key.caller)
  expect(current).toMatchObject({
    key: { id: key.id, chatPerMinute: 5, uploadPerMinute: null },
    rateLimits: { chatPerMinute: 5, uploadPerMinute: 10 },
  })
  const now = services.runtime.now()
  expect(quotaOf(current.owner, now)).toEqual({
    maxApiCalls: 10,
    apiCallsCount: 4,
    remaining: 6,
    quotaPeriod: 'day',
    resetsAt: expect.any(Date),
  })
  await services.users.update(admin, premium.userId, { maxApiCalls: 3 })
  expect(quotaOf((await keys.current(key.caller)).owner, now).remaining).toBe(0)
  expect(await reasonOf(keys.current(premium))).toBe('api_key_required')
})

test('limits per minute are checked and shown per minute, whatever the windows of the rules', async () => {
  const limits = { chat: { points: 10, windowSeconds: 10 }, upload: { points: 600, windowSeconds: 3_600 } }
  const { database, runtime } = services
  const rules = {
    catalog: { knownIds: () => new Set(['dify']) },
    maxLifetimeDays: 3650,
    activePerUserMax: 1_000,
    createdPerDayMax: 1_000,
    limits,
  }
  const windowed = createKeys({
    sql: services.database.sql,
    ...services,
    prisma: database.prisma,
    runtime,
    rules,
    reads: services.searches,
  })
  const key = await services.keyOf(premium)
  const change = (own: { chatPerMinute?: number; uploadPerMinute?: number }, caller = premium) =>
    windowed.update(caller, key.id, { limits: own })
  expect((await windowed.current(key.caller)).rateLimits).toEqual({ chatPerMinute: 60, uploadPerMinute: 10 })
  await change({ chatPerMinute: 30, uploadPerMinute: 5 })
  expect((await windowed.current(key.caller)).rateLimits).toEqual({ chatPerMinute: 30, uploadPerMinute: 5 })
  for (const own of [{ chatPerMinute: 61 }, { uploadPerMinute: 11 }])
    expect(await reasonOf(change(own))).toBe('invalid_request')
  await change({ chatPerMinute: 600, uploadPerMinute: 100 }, admin)
  expect((await windowed.current(key.caller)).rateLimits).toEqual({
    chatPerMinute: 600,
    uploadPerMinute: 100,
  })
  for (const own of [{ chatPerMinute: 601 }, { uploadPerMinute: 101 }])
    expect(await reasonOf(change(own, admin))).toBe('invalid_request')
})

describe('a limit above that of the gateway', () => {
  const above = { limits: { chatPerMinute: 300 } }

  test('is set by administrators alone, also for keys of others, and others are told so twice', async () => {
    for (const _try of [1, 2]) {
      await expect(keys.create(premium, input(above))).rejects.toMatchObject({
        field: ['limits', 'chatPerMinute'],
        detail: expect.stringContaining('1 to 60; an administrator may set up to 600.'),
      })
    }
    expect((await keys.create(admin, input({ ...above, ownerId: premium.userId }))).key.chatPerMinute).toBe(
      300,
    )
    const { id } = await services.keyOf(premium)
    expect(await reasonOf(keys.update(premium, id, above))).toBe('invalid_request')
    expect((await keys.update(admin, id, above)).chatPerMinute).toBe(300)
  })

  test('stays where its creator changes other fields or sends it back, and is not raised again', async () => {
    const key = await services.keyOf(premium)
    await keys.update(admin, key.id, above)
    expect((await keys.update(premium, key.id, { name: 'other' })).chatPerMinute).toBe(300)
    const both = { limits: { chatPerMinute: 300, uploadPerMinute: 7 } }
    expect(await keys.update(premium, key.id, both)).toMatchObject({ chatPerMinute: 300, uploadPerMinute: 7 })
    expect((await keys.current(key.caller)).rateLimits).toEqual({ chatPerMinute: 300, uploadPerMinute: 7 })
    for (const chatPerMinute of [299, 301])
      expect(await reasonOf(keys.update(premium, key.id, { limits: { chatPerMinute } }))).toBe(
        'invalid_request',
      )
    await keys.update(premium, key.id, { limits: { chatPerMinute: 60 } })
    expect(await reasonOf(keys.update(premium, key.id, above))).toBe('invalid_request')
  })
})

test('no permission may be named twice', async () => {
  await expect(keys.create(admin, input({ permissions: ['chat', 'chat'] }))).rejects.toMatchObject({
    reason: 'invalid_request',
    field: ['permissions'],
  })
})

test('a list can be filtered by the state of keys, and a revoked key stays revoked when it expires', async () => {
  const ids = async (state?: KeyState) =>
    (await keys.list(premium, { take: 100 }, { state })).map(({ id }) => id)
  const [live, revoked] = [await keys.create(premium, input()), await keys.create(premium, input())]
  const expired = await keys.create(premium, input({ expiresAt: inDays(1) }))
  await keys.revoke(premium, revoked.key.id)
  services.clock.passSeconds(2 * 86_400)
  const [liveId, revokedId, expiredId] = [live.key.id, revoked.key.id, expired.key.id]
  expect(await ids()).toEqual([expiredId, revokedId, liveId])
  expect(await ids('active')).toEqual([liveId])
  expect(await ids('expired')).toEqual([expiredId])
  expect(await ids('revoked')).toEqual([revokedId])
})

test('a query selects columns and relations, and cannot change the filter', async () => {
  const own = await services.keyOf(premium)
  await services.keyOf(admin)
  const query = { include: { owner: { select: { username: true } } }, where: {}, skip: 1, take: 10 }
  expect(await keys.list(premium, query)).toMatchObject([
    { id: own.id, owner: { username: expect.any(String) } },
  ])
  expect(await keys.find(premium, own.id, query)).toMatchObject({ owner: { username: expect.any(String) } })
  expect(await keys.find(premium, own.id, { select: { name: true } })).toEqual({ name: 'a key' })
})

test('a list of one owner contains only keys that the caller may see', async () => {
  const owner = await services.join('user')
  const { id } = await services.keyOf(admin, { ownerId: owner.userId })
  await services.keyOf(premium)
  const seen = async (caller: Principal, ownerId: string) => [
    (await keys.list(caller, { take: 10 }, { ownerId })).map((key) => key.id),
    await keys.count(caller, { ownerId }),
  ]
  expect(await seen(admin, owner.userId)).toEqual([[id], 1])
  expect(await seen(owner, owner.userId)).toEqual([[id], 1])
  for (const [caller, ownerId] of [
    [premium, owner.userId],
    [premium, v7()],
    [admin, v7()],
    [admin, 'no id'],
  ] as const) {
    expect(await reasonOf(keys.list(caller, { take: 10 }, { ownerId }))).toBe('user_not_found')
    expect(await reasonOf(keys.count(caller, { ownerId }))).toBe('user_not_found')
  }
})

test('a key leads only those to its owner who may see that user', async () => {
  const { caller } = await services.keyOf(admin, { ownerId: premium.userId })
  const { users } = services
  const seesPremium = (by: Principal) => users.isVisibleTo(by, { id: premium.userId })
  expect([admin, premium, await services.join('premium')].map(seesPremium)).toEqual([true, true, false])
  expect(caller.userId).toBe(premium.userId)
})
