import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { PASSWORD } from '#core/accounts/auth/users.test-support.ts'
import type { Sql } from '#core/database/database.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { openUsageServices, type TestKey, type UsageServices } from './usage.test-support.ts'
import { createUsage } from './usage.ts'
import { createUsageFeed, type UsageFeed } from './usage-feed.ts'
import type { UsageUpdate } from './usage-today.ts'

let services: UsageServices
let admin: Principal
let operator: Principal
const onAnswer = vi.fn<(answers: boolean, error?: unknown) => void>()
/** Fails the statements of the feed while it is set. */
let outage: Error | undefined
const statements = vi.fn()

const sql: Sql = {
  query(text, values) {
    statements()
    return outage === undefined ? services.database.sql.query(text, values) : Promise.reject(outage)
  },
}

beforeAll(async () => {
  services = await openUsageServices()
  operator = await services.join('admin')
})
beforeEach(async () => {
  admin = await services.join('admin')
  outage = undefined
})
afterEach(() => vi.clearAllMocks())
afterAll(() => services.database.close())

const feedOf = (more: { subscriptionsMax?: number; perCredentialMax?: number } = {}) =>
  createUsageFeed({ sql, runtime: services.runtime, onAnswer, tickMs: 1, ...more })

async function record(key: TestKey, calls = 1, endUser = ''): Promise<void> {
  const instanceId = v7()
  const ledger = services.processOf(instanceId)
  for (let call = 0; call < calls; call += 1) {
    // By the clock of the database, which decides what today is; the services' own is moved by these tests.
    const callId = await services.admitAt(key, instanceId, new Date(), { endUser })
    const tokens = { promptTokens: 1, completionTokens: 2, totalTokens: 1_500_000_000 }
    ledger.settle({ callId, outcome: 'done', durationMs: 10, ...tokens })
  }
  await ledger.close(5_000)
}

async function nextOf(updates: AsyncIterator<UsageUpdate, undefined>): Promise<UsageUpdate> {
  const { value } = await updates.next()
  if (value === undefined) throw new Error('the updates have ended')
  return value
}

/** Reads on until the updates have ended, and returns the reason. */
async function endOf(updates: AsyncIterator<UsageUpdate, undefined>): Promise<string> {
  try {
    while (!(await updates.next()).done);
    return 'no reason'
  } catch (error) {
    return (error as { reason: string }).reason
  }
}

const tokenOf = async (username: string) => {
  const { accessToken } = await services.login.login(
    { username, password: PASSWORD },
    { address: '127.0.0.1', requestId: 'test' },
  )
  return services.authentication.authenticate(
    accessToken,
    { address: '127.0.0.1', requestId: 'test' },
    () => undefined,
  )
}

test('each caller gets the totals of its report for today, at once and after each change', async () => {
  const { usage } = createUsage({
    database: services.database,
    runtime: services.runtime,
    limits: ampleLimits(),
    config: { retentionDays: 400 },
    catalog: { knownIds: () => new Set(['dify']) },
  })
  const owner = await services.join('premium')
  const [key, other] = [await services.ownKey(owner), await services.ownKey(owner)]
  await record(key, 2)
  const feed = feedOf()
  const callers = [admin, owner, key.caller, other.caller]
  const subscriptions = callers.map((caller) => feed.subscribe(caller))
  const from = new Date()
  from.setUTCHours(0, 0, 0, 0)
  const expectReports = async (updates: readonly UsageUpdate[]) => {
    for (const [index, { totals, day }] of updates.entries()) {
      const report = await usage.report(callers[index] ?? admin, { from, granularity: 'day' })
      expect(totals).toEqual(report.totals)
      expect(day).toEqual(from)
    }
  }
  const first = await Promise.all(subscriptions.map(nextOf))
  await expectReports(first)
  expect(first.map(({ totals }) => totals.calls)).toEqual([expect.any(Number), 2, 2, 0])
  // More than GraphQL's Int can hold.
  expect(first[1]?.totals.totalTokens).toBe(3_000_000_000)

  await record(other)
  const changed = await Promise.all([0, 1, 3].map((index) => nextOf(subscriptions[index] as never)))
  expect(changed.map(({ totals }) => totals.calls)).toEqual([expect.any(Number), 3, 1])
  feed.close()
})

test('a caller that is bound to an end user gets the totals of that one alone, whatever it would see unbound', async () => {
  const owner = await services.join('premium')
  const [key, other] = [await services.ownKey(owner), await services.ownKey(owner)]
  await record(key, 2, 'ann')
  await record(other, 1, 'ann')
  await record(key, 4, 'bob')
  await record(key)
  const feed = feedOf()
  const seen = async (caller: Principal, endUser?: string) =>
    (await nextOf(feed.subscribe({ ...caller, endUser }))).totals.calls
  expect([await seen(key.caller), await seen(owner)]).toEqual([7, 8])
  expect([await seen(key.caller, 'ann'), await seen(owner, 'ann'), await seen(admin, 'ann')]).toEqual([
    2, 3, 3,
  ])
  expect([await seen(key.caller, 'bob'), await seen(other.caller, 'bob')]).toEqual([4, 0])
  expect([await seen(key.caller, ''), await seen(key.caller, 'an'), await seen(key.caller, 'annn')]).toEqual([
    1, 0, 0,
  ])
  feed.close()
})

test('the quota is that of the user, and a change of it is sent', async () => {
  const owner = await services.join('premium')
  const key = await services.ownKey(owner)
  const feed = feedOf()
  const updates = feed.subscribe(key.caller)
  expect((await nextOf(updates)).quota).toMatchObject({ maxApiCalls: 100, apiCallsCount: 0, resetsAt: null })
  await services.users.update(operator, owner.userId, { maxApiCalls: 7, quotaPeriod: 'day' })
  expect((await nextOf(updates)).quota).toMatchObject({ maxApiCalls: 7, remaining: 7, quotaPeriod: 'day' })
  feed.close()
})

test('an administrator that is demoted sees its own calls from then on', async () => {
  await record(await services.ownKey(await services.join('premium')))
  const feed = feedOf()
  const updates = feed.subscribe(admin)
  expect((await nextOf(updates)).totals.calls).toBeGreaterThan(0)
  await services.users.update(operator, admin.userId, { role: 'user' })
  expect((await nextOf(updates)).totals.calls).toBe(0)
  feed.close()
})

test('a thousand subscribers cost one statement in a tick, and none costs nothing', async () => {
  const feed = feedOf()
  const callers = [admin, ...(await Promise.all(Array.from({ length: 9 }, () => services.join('user'))))]
  const subscribe = () => Array.from({ length: 1_000 }, (_, n) => feed.subscribe(callers[n % 10] ?? admin))
  const subscriptions = subscribe()
  await Promise.all(subscriptions.map(nextOf))
  expect(statements).toHaveBeenCalledTimes(1)
  await Promise.all(subscriptions.map((each) => each.return?.()))
  await services.database.sql.query('SELECT 1')
  expect(statements.mock.calls.length).toBeLessThanOrEqual(2)
  statements.mockClear()
  vi.useFakeTimers()
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  expect(statements).not.toHaveBeenCalled()
})

const ENDS: Record<string, { by: (feed: UsageFeed, user: Principal) => unknown; reason: string }> = {
  'its token expires': { by: () => services.clock.passSeconds(3_601), reason: 'token_expired' },
  'it logs out': { by: (_feed, user) => services.login.logout(user), reason: 'token_revoked' },
  'its password changes': {
    by: (_feed, user) => services.users.setPassword(operator, user.userId, PASSWORD),
    reason: 'token_revoked',
  },
  'it is suspended': {
    by: (_feed, user) => services.users.update(operator, user.userId, { status: 'suspended' }),
    reason: 'owner_suspended',
  },
  'the process drains': { by: (feed) => feed.close(), reason: 'draining' },
}

test.each(Object.entries(ENDS))('a user is told when %s', async (_name, { by, reason }) => {
  const username = `user-${v7()}`
  await services.join('premium', username)
  const user = await tokenOf(username)
  const feed = feedOf()
  const updates = feed.subscribe(user)
  const [other, reading] = [feed.subscribe(user), nextOf(feed.subscribe(user))]
  await nextOf(updates)
  await reading
  await by(feed, user)
  expect(await endOf(updates)).toBe(reason)
  expect(await endOf(other)).toBe(reason)
  feed.close()
})

test('a key is told that it was revoked or has expired, and other subscriptions go on', async () => {
  const owner = await services.join('premium')
  const [revoked, expired, kept] = [
    await services.ownKey(owner),
    await services.ownKey(owner),
    await services.ownKey(owner),
  ]
  const feed = feedOf()
  const [first, second, third] = [revoked, expired, kept].map(({ caller }) => feed.subscribe(caller))
  if (first === undefined || second === undefined || third === undefined) throw new Error()
  await nextOf(third)
  await services.keys.revoke(owner, revoked.id)
  expect(await endOf(first)).toBe('key_revoked')
  await services.database.sql.query("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [
    expired.id,
  ])
  expect(await endOf(second)).toBe('key_expired')
  await record(kept)
  expect((await nextOf(third)).totals.calls).toBe(1)
  feed.close()
})

test('a key is told that it was paused, or does not allow the address any more, and another address goes on', async () => {
  const owner = await services.join('premium')
  const [paused, bound] = [await services.ownKey(owner), await services.ownKey(owner)]
  const feed = feedOf()
  const from = (address: string) => feed.subscribe({ ...bound.caller, origin: { address } })
  const [ofPaused, allowed, denied] = [
    feed.subscribe(paused.caller),
    from('::ffff:192.0.2.1'),
    from('192.0.3.1'),
  ]
  for (const updates of [ofPaused, allowed, denied]) await nextOf(updates)
  await services.keys.update(owner, paused.id, { isActive: false })
  expect(await endOf(ofPaused)).toBe('key_paused')
  await services.keys.update(owner, bound.id, { allowedAddresses: ['192.0.2.0/24'] })
  expect(await endOf(denied)).toBe('address_denied')
  await record(bound)
  expect((await nextOf(allowed)).totals.calls).toBe(1)
  feed.close()
})

test('an outage of the database is survived, reported once, and does not prolong a token', async () => {
  const username = `user-${v7()}`
  await services.join('premium', username)
  const key = await services.ownKey(admin)
  const [feed, user] = [feedOf(), await tokenOf(username)]
  const [updates, ofUser] = [feed.subscribe(key.caller), feed.subscribe(user)]
  await nextOf(updates)
  outage = new Error('the database is away')
  await vi.waitFor(() => expect(onAnswer).toHaveBeenCalledWith(false, outage), 20_000)
  services.clock.passSeconds(3_601)
  expect(await endOf(ofUser)).toBe('token_expired')
  await record(key)
  outage = undefined
  expect((await nextOf(updates)).totals.calls).toBe(1)
  expect(onAnswer.mock.calls.map(([answers]) => answers)).toEqual([false, true])
  feed.close()
})

test('one credential cannot take all subscriptions', async () => {
  const feed = feedOf({ perCredentialMax: 1 })
  const only = feed.subscribe(admin)
  // Not by naming another end user each time either.
  for (const endUser of [undefined, 'ann', 'bob']) {
    const again = () => feed.subscribe({ ...admin, endUser })
    expect(again).toThrow(expect.objectContaining({ reason: 'rate_limited' }))
  }
  const ofAnother = feed.subscribe(operator)
  await only.return?.()
  feed.subscribe(admin)
  await ofAnother.return?.()
  feed.close()
})

test('a user with many keys leaves the last tenth of the subscriptions to others', async () => {
  const feed = feedOf({ subscriptionsMax: 20 })
  const owner = await services.join('premium')
  const keys = await Promise.all([1, 2, 3].map(() => services.ownKey(owner)))
  const held = Array.from({ length: 18 }, (_, index) => feed.subscribe(keys[index % 3]?.caller ?? owner))
  for (const caller of [...keys.map((key) => key.caller), owner]) {
    expect(() => feed.subscribe(caller)).toThrow(expect.objectContaining({ reason: 'rate_limited' }))
  }
  feed.subscribe(admin)
  feed.subscribe(operator)
  expect(() => feed.subscribe(operator)).toThrow(expect.objectContaining({ reason: 'unavailable' }))
  await Promise.all(held.slice(0, 3).map((subscription) => subscription.return?.()))
  feed.subscribe(owner)
  expect(() => feed.subscribe(owner)).toThrow(expect.objectContaining({ reason: 'rate_limited' }))
  feed.close()
})

test('subscribers with the same credential get the same object, so that its text is made once', async () => {
  const key = await services.ownKey(await services.join('premium'))
  const feed = feedOf()
  const [first, second] = await Promise.all(
    [feed.subscribe(key.caller), feed.subscribe(key.caller)].map(nextOf),
  )
  expect(first).toBe(second)
  feed.close()
})

test('a feed that is full or closed refuses further subscriptions, and has room for those that leave', async () => {
  const feed = feedOf({ subscriptionsMax: 1 })
  const only = feed.subscribe(admin)
  expect(() => feed.subscribe(admin)).toThrow(expect.objectContaining({ reason: 'unavailable' }))
  await only.return?.()
  feed.subscribe(admin)
  feed.close()
  expect(() => feed.subscribe(admin)).toThrow(expect.objectContaining({ reason: 'draining' }))
})
