import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Problem } from '#core/base/errors/errors.ts'
import { ampleLimits, limitsOf } from '#core/limits/limits.test-support.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { CallsInput } from './calls-query.ts'
import { openUsageServices, type TestKey, type UsageServices } from './usage.test-support.ts'
import { createUsage, type UsageDeps } from './usage.ts'

let services: UsageServices
let admin: Principal
let owner: Principal
let key: TestKey
let otherKey: TestKey
let foreign: TestKey

function usageWith(deps: Partial<UsageDeps> = {}) {
  return createUsage({
    database: services.database,
    runtime: services.runtime,
    limits: ampleLimits(),
    config: { retentionDays: 400 },
    catalog: { knownIds: () => new Set(['dify']) },
    ...deps,
  })
}

beforeAll(async () => {
  services = await openUsageServices()
  admin = await services.join('admin')
  owner = await services.join('premium')
  key = await services.ownKey(owner)
  otherKey = await services.ownKey(owner)
  foreign = await services.ownKey(await services.join('premium'))
})
afterAll(() => services.database.close())

const admit = ({ id, ownerId, hash, caller }: TestKey) =>
  services.admitAt({ id, ownerId, hash, caller }, v7(), services.runtime.now())

test('a call is found by every caller who sees it in the list, and no id causes a database error', async () => {
  const { calls } = usageWith()
  const id = await admit(key)
  const found = (caller: Principal, of: string) =>
    calls.find(caller, of).then(
      (call) => call.id,
      ({ reason }: Problem) => reason,
    )
  expect(await found(admin, id)).toBe(id)
  expect(await found(owner, id)).toBe(id)
  expect(await found(key.caller, id)).toBe(id)
  expect(await found(otherKey.caller, id)).toBe('call_not_found')
  expect(await found(foreign.caller, id)).toBe('call_not_found')
  for (const none of [v7(), 'no id', '\0']) expect(await found(admin, none)).toBe('call_not_found')
})

test.each(['embedded', 'server'] as const)('%s: a page has the requested columns', async (kind) => {
  const { calls } = usageWith({ database: { ...services.database, kind } })
  const newest = await admit(key)
  const [row] = await calls.list(owner, {}, { take: 1, select: { agent: true } })
  expect(row).toMatchObject({ id: newest, agent: 'dify' })
  expect(row).not.toHaveProperty('requestId')
  const page = calls.list(owner, {}, { take: -1 })
  await expect(page).rejects.toMatchObject({ reason: 'invalid_request' })
})

test('calls are selected by why they failed, how long they took and what they cost', async () => {
  const slow = await services.ownKey(await services.join('premium'))
  const settled = [
    ['agent_timeout', 60_000, null],
    ['agent_error', 900, null],
    [null, 1_500, 4_000],
    [null, 1_499, 3_999],
  ] as const
  for (const [reason, durationMs, totalTokens] of settled) {
    const outcome = reason === null ? 'done' : 'upstream_error'
    const firstChunkMs = Math.floor(durationMs / 2)
    const data = { outcome, reason, firstChunkMs, durationMs, totalTokens, endedAt: new Date() }
    await services.database.prisma.call.update({ where: { id: await admit(slow) }, data })
  }
  await admit(slow)
  const { calls } = usageWith()
  const found = async (filter: CallsInput) => {
    const rows = await calls.list(slow.caller, filter, { take: 10 })
    expect(await calls.count(slow.caller, filter)).toBe(rows.length)
    return rows.map(({ durationMs }) => durationMs)
  }
  expect(await found({ reason: 'agent_timeout' })).toEqual([60_000])
  expect(await found({ firstChunkMsMin: 751 })).toEqual([60_000])
  expect(await found({ durationMsMin: 1_500 })).toEqual([1_500, 60_000])
  expect(await found({ durationMsMin: 1_500, outcome: ['failed'] })).toEqual([60_000])
  expect(await found({ totalTokensMin: 4_000 })).toEqual([1_500])
  const refused = async (filter: CallsInput, field: string) =>
    expect(calls.list(slow.caller, filter, { take: 1 })).rejects.toMatchObject({ field: [field] })
  await refused({ reason: 'no such reason' }, 'reason')
  await refused({ firstChunkMsMin: 0.5 }, 'firstChunkMsMin')
  await refused({ durationMsMin: -1 }, 'durationMsMin')
  await refused({ totalTokensMin: 2 ** 31 }, 'totalTokensMin')
})

test.each(['embedded', 'server'] as const)('%s: calls are selected by whether they paused', async (kind) => {
  const asking = await services.ownKey(await services.join('premium'))
  const question = await admit(asking)
  const answer = await admit(asking)
  const { prisma } = services.database
  await prisma.call.update({ where: { id: question }, data: { paused: true, answeredBy: answer } })
  await prisma.call.update({ where: { id: answer }, data: { answers: question } })
  const { calls } = usageWith({ database: { ...services.database, kind } })
  const found = async (filter: CallsInput) => {
    const rows = await calls.list(asking.caller, filter, { take: 10 })
    expect(await calls.count(asking.caller, filter)).toBe(rows.length)
    return rows.map(({ id }) => id)
  }
  expect(await found({ paused: true })).toEqual([question])
  expect(await found({ paused: false })).toEqual([answer])
  expect(await found({})).toEqual([answer, question])
})

test.each(['embedded', 'server'] as const)(
  '%s: a count is exact up to its bound, then null',
  async (kind) => {
    const { sql } = services.database
    const counted = await services.ownKey(await services.join('premium'))
    const { calls } = usageWith({ database: { ...services.database, kind } })
    const count = (filter: CallsInput = {}) => calls.count(counted.caller, filter)
    const insert = (agent: string, calls: number) =>
      sql.query(
        `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, admitted_at)
       SELECT gen_random_uuid(), '', $1, $2, 'chat', 'rest', $3, $1, now() FROM generate_series(1, $4::int)`,
        [counted.id, counted.ownerId, agent, calls],
      )
    expect(await count()).toBe(0)
    await insert('dify', 9_990)
    await insert('coze', 10)
    expect(await count()).toBe(10_000)
    expect(await count({ agent: 'dify' })).toBe(9_990)
    expect(await count({ outcome: ['done'] })).toBe(0)
    await insert('dify', 1)
    expect(await count()).toBeNull()
    await expect(calls.count(foreign.caller, { keyId: counted.id })).rejects.toMatchObject({
      reason: 'key_not_found',
    })
  },
)

test('an export continues after its first batch, with each call once, newest first', async () => {
  await services.database.sql.query(
    `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, admitted_at)
     SELECT gen_random_uuid(), '', $1, $2, 'chat', 'rest', 'dify', $1, now() FROM generate_series(1, 2001)`,
    [foreign.id, foreign.ownerId],
  )
  const ids: string[] = []
  for await (const { id } of await usageWith().calls.export(foreign.caller, {})) ids.push(id)
  expect(ids).toHaveLength(2001)
  expect(ids).toEqual([...new Set(ids)].sort().reverse())
})

test('a valid query takes a point and reports the limit, and an invalid one takes none', async () => {
  const { usage, calls } = usageWith({ limits: limitsOf({ points: 1, windowSeconds: 60 }) })
  const verdicts: LimitVerdict[] = []
  const onLimit = (verdict: LimitVerdict) => verdicts.push(verdict)
  await expect(usage.report(owner, { from: 'never' }, onLimit)).rejects.toMatchObject({
    reason: 'invalid_request',
  })
  await expect(calls.list(owner, { from: 'never' }, { take: 1 }, onLimit)).rejects.toMatchObject({
    reason: 'invalid_request',
  })
  expect(verdicts).toEqual([])
  await usage.report(owner, {}, onLimit)
  await expect(usage.report(owner, {}, onLimit)).rejects.toMatchObject({ reason: 'rate_limited' })
  await calls.export(owner, {}, onLimit)
  await expect(calls.list(owner, {}, { take: 1 }, onLimit)).rejects.toMatchObject({
    reason: 'rate_limited',
    retryAfterSeconds: expect.any(Number),
  })
  expect(verdicts.map(({ policy, allowed }) => [policy, allowed])).toEqual([
    ['reports', true],
    ['reports', false],
    ['calls', true],
    ['calls', false],
  ])
  // Each key of a user has its own limit.
  expect(await calls.list(otherKey.caller, {}, { take: 1 }, onLimit)).toEqual([])
})
