import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ampleLimits, limitsOf } from '#core/limits/limits.test-support.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import { createReads } from '#core/limits/sharing/reads.ts'
import { drained } from '#core/lists/all-rows.test-support.ts'
import { openUsageServices, type TestKey, type UsageServices } from '#core/reports/usage.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { countRefusals, insertRefusal, type RefusedInTest } from './refusals.test-support.ts'
import { createRefusals, type Refusals, type RefusalsDeps } from './refusals.ts'
import type { RefusalsInput } from './refusals-query.ts'
import { parseRequestId } from './refusals-query.ts'

let services: UsageServices
let admin: Principal
let owner: Principal
let key: TestKey
let otherKey: TestKey
let foreign: TestKey

function refusalsOn(kind: 'embedded' | 'server', deps: Partial<RefusalsDeps> = {}): Refusals {
  return createRefusals({
    database: services.database,
    runtime: services.runtime,
    limits: ampleLimits(),
    reads: createReads(kind),
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
beforeEach(() => services.database.sql.query('TRUNCATE refusals, refusal_counts'))

const refuse = (refused: Partial<RefusedInTest> = {}, by: TestKey = key) =>
  insertRefusal(services.database.sql, { ownerId: by.ownerId, keyId: by.id, ...refused })
const count = (times: number, refused: Partial<RefusedInTest> = {}, by: TestKey = key) =>
  countRefusals(services.database.sql, times, { ownerId: by.ownerId, keyId: by.id, ...refused })

const NOON = new Date('2026-11-20T12:00:00Z')
const after = (minutes: number) => new Date(NOON.getTime() + minutes * 60_000)
const RANGE = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' }

describe.each(['embedded', 'server'] as const)('single refusals, %s', (kind) => {
  test('each caller sees its own and an administrator all, newest first', async () => {
    const refusals = refusalsOn(kind)
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
    const first = await refuse({ at: ago(4) })
    const second = await refuse({ at: ago(3) }, otherKey)
    const third = await refuse({ at: ago(2), keyId: undefined })
    const theirs = await refuse({ at: ago(1) }, foreign)
    const seen = async (caller: Principal, input: RefusalsInput = {}) =>
      (await refusals.list(caller, input, { take: 10 })).map(({ id }) => id)
    expect(await seen(admin)).toEqual([theirs, third, second, first])
    expect(await seen(owner)).toEqual([third, second, first])
    expect(await seen(key.caller)).toEqual([first])
    expect(await seen(foreign.caller)).toEqual([theirs])
    expect(await seen(admin, { keyId: otherKey.id })).toEqual([second])
    expect(await seen(admin, { ownerId: foreign.ownerId })).toEqual([theirs])
    await expect(seen(owner, { keyId: foreign.id })).rejects.toMatchObject({ reason: 'key_not_found' })
    await expect(seen(owner, { ownerId: foreign.ownerId })).rejects.toMatchObject({
      reason: 'user_not_found',
    })
  })

  test('every condition selects refusals, for the list, the count and the export', async () => {
    const refusals = refusalsOn(kind)
    const at = NOON
    const wanted = { agent: 'dify', reason: 'quota_exceeded', limit: 'quota', requestId: 'wanted', at }
    const id = await refuse(wanted)
    const others = [{ agent: '' }, { reason: 'rate_limited' }, { limit: 'chat' }, { requestId: 'other' }]
    for (const other of others) await refuse({ ...wanted, ...other })
    await refuse({ ...wanted, at: after(60) })
    await refuse({ ...wanted, at: after(-60) })
    const input = { agent: 'dify', reason: 'quota_exceeded', limitName: 'quota', requestId: 'wanted' }
    const between = { ...input, from: after(-1), to: after(1) }
    expect((await refusals.list(owner, between, { take: 10 })).map((one) => one.id)).toEqual([id])
    expect(await refusals.count(owner, between)).toBe(1)
    const exported = await drained(await refusals.export(owner, between))
    expect(exported.map((one) => one.id)).toEqual([id])
    expect(await refusals.count(owner, input)).toBe(3)
    expect(await refusals.count(owner, { ...input, agent: '' })).toBe(1)
    expect(await refusals.count(owner, { ...input, agent: 'other' })).toBe(0)
  })

  test('pages follow each other without gaps, and an export has every row once', async () => {
    const refusals = refusalsOn(kind)
    await services.database.sql.query(
      `INSERT INTO refusals (id, request_id, at, key_id, owner_id, face, route, reason, status)
       SELECT gen_random_uuid(), '', now(), $1, $2, 'rest', '', 'rate_limited', 429 FROM generate_series(1, 2001)`,
      [key.id, key.ownerId],
    )
    await refuse({}, foreign)
    const exported = (await drained(await refusals.export(key.caller, {}))).map(({ id }) => id)
    expect(exported).toHaveLength(2001)
    expect(exported).toEqual([...new Set(exported)].sort().reverse())
    const paged: string[] = []
    for (let cursor: string | undefined; paged.length < 250; ) {
      const page = await refusals.list(key.caller, {}, { take: 100, cursor })
      paged.push(...page.map(({ id }) => id))
      cursor = page.at(-1)?.cursor
    }
    expect(paged).toEqual(exported.slice(0, 300))
    expect(await refusals.count(key.caller, {})).toBe(2001)
  })

  test('a count ends at its bound', async () => {
    const refusals = refusalsOn(kind)
    const insert = (rows: number) =>
      services.database.sql.query(
        `INSERT INTO refusals (id, request_id, at, owner_id, face, route, reason, status)
         SELECT gen_random_uuid(), '', now(), $1, 'rest', '', 'rate_limited', 429 FROM generate_series(1, $2::int)`,
        [owner.userId, rows],
      )
    await insert(10_000)
    expect(await refusals.count(owner, {})).toBe(10_000)
    await insert(1)
    expect(await refusals.count(owner, {})).toBeNull()
  })
})

test('the last refusal of a request is found by those who see it, and no id causes a database error', async () => {
  const refusals = refusalsOn('server')
  await refuse({ requestId: 'ticket' })
  const last = await refuse({ requestId: 'ticket', reason: 'unavailable', limit: 'database' })
  const found = async (caller: Principal, requestId: string) =>
    (await refusals.findMany(caller, [requestId, 'other'])).get(requestId)?.id ?? null
  expect(await found(admin, 'ticket')).toBe(last)
  expect(await found(owner, 'ticket')).toBe(last)
  expect(await found(key.caller, 'ticket')).toBe(last)
  expect(await found(otherKey.caller, 'ticket')).toBeNull()
  expect(await found(foreign.caller, 'ticket')).toBeNull()
  expect(await found(admin, '')).toBeNull()
  for (const text of ['\0', 'x'.repeat(129)]) {
    expect(() => parseRequestId(text)).toThrow(expect.objectContaining({ field: ['requestId'] }))
  }
})

describe.each(['embedded', 'server'] as const)('counts, %s', (kind) => {
  test('each caller sees its own, and only an administrator those of unknown credentials', async () => {
    const refusals = refusalsOn(kind)
    await count(1, { at: NOON })
    await count(2, { at: NOON }, otherKey)
    await count(4, { at: NOON, keyId: '' })
    await count(8, { at: NOON }, foreign)
    await countRefusals(services.database.sql, 16, { at: NOON, reason: 'key_unknown', limit: '' })
    const seen = async (caller: Principal, input: object = {}) =>
      (await refusals.counts(caller, { ...RANGE, ...input })).map((counted) => counted.count)
    expect(await seen(admin)).toEqual([16, 8, 4, 2, 1])
    expect(await seen(owner)).toEqual([4, 2, 1])
    expect(await seen(key.caller)).toEqual([1])
    expect(await seen(admin, { keyId: otherKey.id })).toEqual([2])
    expect(await seen(admin, { reason: 'key_unknown' })).toEqual([16])
    expect(await seen(admin, { limitName: '' })).toEqual([16])
    await expect(seen(owner, { keyId: foreign.id })).rejects.toMatchObject({ reason: 'key_not_found' })
    const [unknown] = await refusals.counts(admin, { ...RANGE, reason: 'key_unknown' })
    expect(unknown).toEqual({
      start: NOON,
      keyId: null,
      ownerId: null,
      agent: '',
      reason: 'key_unknown',
      limit: '',
      count: 16,
    })
  })

  test('minutes are added up by the minute, hour and day of the time zone, the most frequent first', async () => {
    const refusals = refusalsOn(kind)
    for (const [minutes, times] of [
      [0, 1],
      [1, 2],
      [59, 4],
      [60, 8],
      [300, 16],
    ] as const) {
      await count(times, { at: after(minutes) })
    }
    await count(32, { at: after(1), reason: 'quota_exceeded', limit: 'quota' })
    const seen = async (input: object) =>
      (await refusals.counts(owner, { ...RANGE, ...input })).map(
        (counted) => `${counted.start.toISOString().slice(5, 16)} ${counted.count}`,
      )
    expect(await seen({ per: 'minute' })).toEqual([
      '11-20T12:00 1',
      '11-20T12:01 32',
      '11-20T12:01 2',
      '11-20T12:59 4',
      '11-20T13:00 8',
      '11-20T17:00 16',
    ])
    expect(await seen({})).toEqual(['11-20T12:00 32', '11-20T12:00 7', '11-20T13:00 8', '11-20T17:00 16'])
    expect(await seen({ per: 'day' })).toEqual(['11-20T00:00 32', '11-20T00:00 31'])
    // In Shanghai it is already the next day from 16:00 UTC on.
    const days = { per: 'day', from: '2026-11-20', to: '2026-11-22', timezone: 'Asia/Shanghai' }
    expect(await seen(days)).toEqual(['11-19T16:00 32', '11-19T16:00 15', '11-20T16:00 16'])
    // The first bucket starts with the range, and neither end counts what lies outside.
    expect(await seen({ from: after(1).toISOString(), to: after(60).toISOString() })).toEqual([
      '11-20T12:01 32',
      '11-20T12:01 6',
    ])
  })

  test('more counts than an answer may have are refused, and a bucket of several slices is counted once', async () => {
    const refusals = refusalsOn(kind)
    const insert = (reasons: number) =>
      services.database.sql.query(
        `INSERT INTO refusal_counts (minute, owner_id, reason, count)
         SELECT $1::timestamptz + (n % 600) * interval '1 minute', $2, 'r' || n, 1 FROM generate_series(1, $3::int) AS n
         ON CONFLICT DO NOTHING`,
        [NOON.toISOString(), owner.userId, reasons],
      )
    await insert(10_000)
    const counts = await refusals.counts(owner, { ...RANGE, per: 'day' })
    expect(counts).toHaveLength(10_000)
    expect(counts.every((counted) => counted.count === 1)).toBe(true)
    await insert(10_001)
    await expect(refusals.counts(owner, { ...RANGE, per: 'day' })).rejects.toMatchObject({
      reason: 'invalid_request',
      field: ['from'],
      detail: expect.stringContaining('more than 10000 counts'),
    })
    await services.database.sql.query('TRUNCATE refusal_counts')
    await services.database.sql.query(
      `INSERT INTO refusal_counts (minute, owner_id, reason, count)
       SELECT $1::timestamptz + n * interval '1 minute', $2, 'rate_limited', 2 FROM generate_series(0, 719) AS n`,
      [NOON.toISOString(), owner.userId],
    )
    const [sum, ...others] = await refusals.counts(owner, { ...RANGE, per: 'day' })
    expect([sum?.count, others]).toEqual([1440, []])
  })
})

test.each([
  [{ from: '2026-11-20', to: '2026-11-22', per: 'minute' }, ['from']],
  [{ from: '2026-01-01', to: '2026-11-22' }, ['from']],
  [{ from: '1990-01-01', per: 'day' }, ['from']],
  [{ from: '2026-11-22', to: '2026-11-20' }, ['from']],
  [{ per: 'week' }, ['per']],
  [{ reason: 'rate_limitted' }, ['reason']],
  [{ agent: 'difi' }, ['agent']],
  [{ limitName: 'a\u0000b' }, ['limitName']],
  [{ timezone: 'Mars/Olympus' }, ['timezone']],
])('counts for %j are refused', async (input, field) => {
  await expect(refusalsOn('server').counts(owner, input)).rejects.toMatchObject({
    reason: 'invalid_request',
    field,
  })
})

test('all mistakes of a query are named at once, and a wrong cursor is one', async () => {
  const refusals = refusalsOn('server')
  const input = { from: 'never', agent: '\0', reason: 'none', limitName: '\0', requestId: '\0' }
  const error = await refusals.list(owner, input, { take: 1 }).catch((cause: unknown) => cause)
  const fields = (error as { mistakes: { field: string[] }[] }).mistakes.map((mistake) =>
    mistake.field.join(),
  )
  expect(fields.sort()).toEqual(['agent', 'from', 'limitName', 'reason', 'requestId'])
  const page = refusals.list(owner, {}, { take: 1, cursor: 'bad' })
  await expect(page).rejects.toMatchObject({ field: ['cursor'] })
  await expect(refusals.list(owner, {}, { take: 102 })).rejects.toMatchObject({ field: ['limit'] })
})

test('a valid query takes a point and reports the limit, and an invalid one takes none', async () => {
  const refusals = refusalsOn('server', { limits: limitsOf({ points: 1, windowSeconds: 60 }) })
  const verdicts: LimitVerdict[] = []
  const onLimit = (verdict: LimitVerdict) => verdicts.push(verdict)
  await refusals.list(owner, { from: 'never' }, { take: 1 }, onLimit).catch(() => undefined)
  await refusals.counts(owner, { from: 'never' }, onLimit).catch(() => undefined)
  await refusals.export(owner, { from: 'never' }, onLimit).catch(() => undefined)
  expect(verdicts).toEqual([])
  await refusals.list(owner, {}, { take: 1 }, onLimit)
  await refusals.counts(owner, {}, onLimit)
  for (const read of [
    () => refusals.list(owner, {}, { take: 1 }, onLimit),
    () => refusals.count(owner, {}, onLimit),
    () => refusals.export(owner, {}, onLimit),
    () => refusals.counts(owner, {}, onLimit),
  ]) {
    await expect(read()).rejects.toMatchObject({ reason: 'rate_limited' })
  }
  expect(verdicts.map(({ policy }) => policy)).toEqual([
    ...['calls', 'reports', 'calls', 'calls', 'calls', 'reports'],
  ])
})
