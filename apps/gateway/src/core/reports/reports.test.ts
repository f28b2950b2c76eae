import { type Arbitrary, array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Settlement } from '#core/ledger/settlement/settlement-row.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Call } from '#generated/prisma/client.ts'
import { createCalls } from './calls.ts'
import type { CallsInput } from './calls-query.ts'
import type { ReportQuery } from './report-query.ts'
import { GROUPS, type RollupGroup, rollupGroups } from './report-rows.ts'
import { queryBefore, type Report, type ReportGroup, readReport } from './reports.ts'
import { openUsageServices, type TestKey, type UsageServices } from './usage.test-support.ts'
import { createUsage, type Usage } from './usage.ts'
import type { UsageMetrics } from './usage-accumulator.ts'

const HOUR_MS = 3_600_000
/** Daylight saving time begins in Berlin in the middle of it. */
const [FROM, TO] = [new Date('2026-03-25T00:00:00Z'), new Date('2026-04-03T00:00:00Z')]

let services: UsageServices
let usage: Usage
let admin: Principal
let owners: readonly [Principal, Principal]
let keys: readonly TestKey[]
let calls: readonly Call[]

interface Past {
  readonly key: number
  readonly hour: number
  readonly agent: string
  readonly endUser: string
  readonly end: Omit<Settlement, 'callId'>
}

const past: Arbitrary<Past> = record({
  key: nat({ max: 2 }),
  hour: nat({ max: 9 * 24 - 1 }),
  agent: constantFrom('dify', 'coze'),
  endUser: constantFrom('', 'anna', '安'),
  end: record(
    {
      outcome: constantFrom('done', 'timeout', 'client_gone', 'upstream_error'),
      durationMs: integer({ min: 1, max: 300_000 }),
      firstChunkMs: integer({ min: 1, max: 9_000 }),
      model: constantFrom('m-1', 'm-2'),
      promptTokens: nat({ max: 1_000 }),
      completionTokens: nat({ max: 1_000 }),
      totalTokens: nat({ max: 2_000 }),
    },
    { requiredKeys: ['outcome', 'durationMs'] },
  ),
})

/** Enough for several of every key, agent, outcome and day. */
const CALLS = process.env.SOAK ? 300 : 60

beforeAll(async () => {
  services = await openUsageServices()
  usage = usageOf('embedded').usage
  admin = await services.join('admin')
  owners = [await services.join('premium'), await services.join('premium')]
  keys = [
    await services.ownKey(owners[0]),
    await services.ownKey(owners[0]),
    await services.ownKey(owners[1]),
  ]
  const instanceId = v7()
  const process = services.processOf(instanceId)
  await assert(
    asyncProperty(array(past, { minLength: CALLS, maxLength: CALLS }), async (batch) => {
      for (const { key, hour, agent, endUser, end } of batch) {
        const admittedAt = new Date(FROM.getTime() + hour * HOUR_MS + 1_234)
        const callId = await services.admitAt(keys[key] as TestKey, instanceId, admittedAt, {
          agent,
          endUser,
        })
        process.settle({ callId, ...end })
      }
    }),
    { seed: 4, numRuns: 1, endOnFailure: true },
  )
  await process.close(20_000)
  // Still running, so no report includes it.
  await services.admitAt(keys[0] as TestKey, instanceId, FROM)
  calls = await services.database.prisma.call.findMany({ where: { NOT: { outcome: null } } })
})
afterAll(() => services.database.close())

const base = { from: FROM, to: TO, timezone: 'UTC', granularity: 'day', groupBy: [] } as const

/** The service as on an embedded database, which reads in slices, or as on a server, which reads in one statement. */
async function ask(caller: Principal, more: Partial<ReportQuery> = {}): Promise<Report> {
  const query = { ...base, ...more }
  const report = await usage.report(caller, query)
  expect(await usageOf('server').usage.report(caller, query)).toEqual(report)
  return report
}

function usageOf(kind: 'embedded' | 'server') {
  return createUsage({
    database: { ...services.database, kind },
    runtime: services.runtime,
    limits: ampleLimits(),
    config: { retentionDays: 400 },
    catalog: { knownIds: () => new Set(['configured-only']) },
  })
}

const readsWith = (slices: Slices | undefined): Reads => ({
  inTurn: (_asking, read) => read(slices),
  requirePlace: () => undefined,
})

test.each([1, 7, 50])('slices of %i rollups add up to the result of one statement', async (rowsMax) => {
  const reads = readsWith({ run: (statement) => statement(rowsMax) })
  const deps = { sql: services.database.sql, reads, requireKnownAgent: async () => undefined }
  const [owner] = owners
  for (const [caller, more] of [
    [admin, { groupBy: ['key', 'outcome'] }],
    [admin, { groupBy: ['user', 'agent'], granularity: 'month' }],
    [admin, { groupBy: ['end_user'], timezone: 'Asia/Shanghai' }],
    [owner, { groupBy: ['key'], timezone: 'Europe/Berlin', agent: 'coze' }],
    [owner, { granularity: 'hour', groupBy: ['model'] }],
    [admin, { granularity: 'month', timezone: 'America/New_York' }],
    [admin, { groupBy: ['agent'], outcome: ['done', 'timeout'], timezone: 'Asia/Shanghai' }],
  ] satisfies [Principal, Partial<ReportQuery>][]) {
    const query = { ...base, ...more }
    const sliced = await readReport(deps, caller, query)
    expect(sliced).toEqual(await usageOf('server').usage.report(caller, query))
    expect(sliced.totals.calls).toBeGreaterThan(0)
  }
})

test.each(['embedded', 'server'] as const)(
  '%s: an agent that is configured or was called is accepted, and another one is rejected',
  async (kind) => {
    const { usage, calls } = usageOf(kind)
    const report = (agent: string) => usage.report(admin, { ...base, agent })
    expect((await report('coze')).totals.calls).toBeGreaterThan(0)
    expect((await report('configured-only')).totals.calls).toBe(0)
    await expect(report('cozy')).rejects.toMatchObject({ detail: expect.stringMatching(/^agent: /) })
    const page = calls.list(admin, { agent: 'cozy' }, { take: 1 })
    await expect(page).rejects.toMatchObject({ detail: expect.stringMatching(/^agent: /) })
  },
)

test('a page of the ledger that is read in slices equals the page that is read at once', async () => {
  const deps = { ...services.database, limits: ampleLimits(), requireKnownAgent: async () => undefined }
  const whole = createCalls({ ...deps, reads: readsWith(undefined) })
  const [owner] = owners
  for (const rowsMax of [1, 3, 100]) {
    const sliced = createCalls({ ...deps, reads: readsWith({ run: (statement) => statement(rowsMax) }) })
    for (const [caller, query] of [
      [owner, { agent: 'coze', outcome: ['timeout'] }],
      [admin, { outcome: ['running', 'done'], kind: 'chat' }],
      [admin, { keyId: keys[0]?.id }],
      [keys[1]?.caller ?? admin, { from: FROM, to: TO }],
    ] satisfies [Principal, CallsInput][]) {
      for (let cursor: { id: string } | undefined; ; ) {
        const page = { take: 7, cursor }
        const expected = await whole.list(caller, query, page)
        expect(await sliced.list(caller, query, page)).toEqual(expected)
        cursor = expected.at(-1)
        if (cursor === undefined) break
      }
    }
  }
})

test('every number equals that of the ledger, for all users, a user, a key and an agent', async () => {
  const [owner] = owners
  const [key] = keys as [TestKey]
  expectTruth((await ask(admin)).totals, calls)
  expectTruth(
    (await ask(owner)).totals,
    calls.filter(({ ownerId }) => ownerId === owner.userId),
  )
  expectTruth(
    (await ask(admin, { ownerId: owner.userId })).totals,
    calls.filter(({ ownerId }) => ownerId === owner.userId),
  )
  expectTruth(
    (await ask(owner, { keyId: key.id })).totals,
    calls.filter(({ keyId }) => keyId === key.id),
  )
  expectTruth(
    (await ask(key.caller)).totals,
    calls.filter(({ keyId }) => keyId === key.id),
  )
  expectTruth(
    (await ask(admin, { agent: 'coze' })).totals,
    calls.filter(({ agent }) => agent === 'coze'),
  )
})

const DIMENSIONS = rollupGroups(GROUPS)
const VALUES: Record<RollupGroup, (call: Call) => string> = {
  key: (call) => call.keyId,
  agent: (call) => call.agent,
  app: (call) => call.app,
  model: (call) => call.model ?? '',
  user: (call) => call.ownerId,
  end_user: (call) => call.endUser,
  outcome: (call) => call.outcome ?? '',
}

test.each(DIMENSIONS)('grouped by %s, each group has its own calls, the most used first', async (group) => {
  const { groups } = await ask(admin, { groupBy: [group] })
  const truth = Map.groupBy(calls, VALUES[group])
  expect(new Set(groups.map((each) => each.group[group]))).toEqual(new Set(truth.keys()))
  for (const each of groups) expectTruth(each.totals, truth.get(each.group[group] ?? '') ?? [])
  const counts = groups.map(({ totals }) => totals.calls)
  expect(counts).toEqual(counts.toSorted((one, other) => other - one))
})

test('two groups are combined', async () => {
  const { groups } = await ask(owners[0], { groupBy: ['key', 'outcome'] })
  const own = calls.filter(({ ownerId }) => ownerId === owners[0].userId)
  const truth = Map.groupBy(own, ({ keyId, outcome }) => `${keyId} ${outcome}`)
  expect(groups).toHaveLength(truth.size)
  for (const { group, totals } of groups)
    expectTruth(totals, truth.get(`${group.key} ${group.outcome}`) ?? [])
})

test.each([
  ['UTC', 'hour', 216],
  ['UTC', 'day', 9],
  ['UTC', 'month', 2],
  ['Europe/Berlin', 'day', 10],
  ['Asia/Shanghai', 'day', 10],
  ['America/New_York', 'month', 2],
] as const)(
  'in %s by the %s the points have no gaps, and each point counts the calls of its time',
  async (timezone, granularity, length) => {
    const { from, to, groups, totals } = await ask(admin, { timezone, granularity })
    const [only] = groups as [ReportGroup]
    expect(only.points).toHaveLength(length)
    expect(only.points[0]?.start).toEqual(from)
    for (const [index, { start, ...metrics }] of only.points.entries()) {
      const end = only.points[index + 1]?.start ?? to
      expectTruth(
        metrics,
        calls.filter(({ admittedAt }) => admittedAt >= start && admittedAt < end),
      )
    }
    expectTruth(totals, calls)
  },
)

test('a report without calls has points, and a grouped one has no groups', async () => {
  const idleUser = await services.join('user')
  const { totals, groups } = await ask(idleUser)
  expectTruth(totals, [])
  expect(groups).toHaveLength(1)
  expect(groups[0]?.points).toHaveLength(9)
  expect((await ask(idleUser, { groupBy: ['agent'] })).groups).toEqual([])
})

test('the points of a report are those of all of its groups together', async () => {
  const whole = await ask(admin)
  for (const groupBy of [['key'], ['outcome', 'agent'], ['end_user']] as const) {
    expect((await ask(admin, { groupBy })).points).toEqual(whole.points)
  }
  expect(whole.points).toEqual(whole.groups[0]?.points)
})

test('filters hold in every combination, for all users, a user and a key, however the calls are grouped', async () => {
  const [sample] = calls
  if (sample === undefined) throw new Error('there are no calls')
  const conditions: Record<string, [Partial<ReportQuery>, (call: Call) => boolean]> = {
    agent: [{ agent: sample.agent }, ({ agent }) => agent === sample.agent],
    app: [{ app: sample.app }, ({ app }) => app === sample.app],
    model: [{ model: sample.model ?? '' }, ({ model }) => (model ?? '') === (sample.model ?? '')],
    endUser: [{ endUser: sample.endUser }, ({ endUser }) => endUser === sample.endUser],
    outcome: [
      { outcome: ['done', 'rejected'] },
      ({ outcome }) => outcome === 'done' || outcome === 'rejected',
    ],
    key: [{ keyId: sample.keyId }, ({ keyId }) => keyId === sample.keyId],
    user: [{ ownerId: sample.ownerId }, ({ ownerId }) => ownerId === sample.ownerId],
  }
  const all = Object.values(conditions)
  const { usage } = usageOf('server')
  for (let chosen = 1; chosen < 1 << all.length; chosen += 1) {
    const some = all.filter((_condition, index) => (chosen & (1 << index)) !== 0)
    const query = Object.assign({}, ...some.map(([more]) => more)) as Partial<ReportQuery>
    const truth = calls.filter((call) => some.every(([, holds]) => holds(call)))
    const group = DIMENSIONS[chosen % DIMENSIONS.length] ?? 'agent'
    const { totals, groups } = await usage.report(admin, { ...base, ...query, groupBy: [group] })
    expectTruth(totals, truth)
    expect(groups).toHaveLength(new Set(truth.map(VALUES[group])).size)
  }
})

test('the period before a report is read by its own query', async () => {
  const second = await ask(owners[0], { from: new Date('2026-03-30T00:00:00Z'), groupBy: ['agent'] })
  const before = await ask(owners[0], queryBefore(second))
  expect(before).toMatchObject({
    from: new Date('2026-03-26T00:00:00Z'),
    to: second.from,
    groupBy: ['agent'],
  })
  const isBefore = ({ admittedAt }: Call) => admittedAt >= before.from && admittedAt < before.to
  const own = calls.filter((call) => call.ownerId === owners[0].userId && isBefore(call))
  expect(own.length).toBeGreaterThan(0)
  expectTruth(before.totals, own)
})

test.each(['embedded', 'server'] as const)(
  '%s: the reports of several keys are those of each key, without the keys of others',
  async (kind) => {
    const { usage } = usageOf(kind)
    const ids = keys.map(({ id }) => id)
    for (const more of [
      {},
      { groupBy: ['agent', 'outcome'], timezone: 'Europe/Berlin' },
      { groupBy: ['key'], agent: 'coze' },
      { groupBy: ['end_user'], granularity: 'month' },
    ] satisfies Partial<ReportQuery>[]) {
      const query = { ...base, ...more }
      const ofAll = await usage.reportsOfKeys(admin, [...ids, v7(), 'no id'], query)
      expect(ofAll.size).toBe(3)
      for (const keyId of ids) {
        expect(ofAll.get(keyId)).toEqual(await usage.report(admin, { ...query, keyId }))
      }
      const [own, foreign] = [ids.slice(0, 2), ids.slice(2)]
      expect(await usage.reportsOfKeys(owners[0], ids, query)).toEqual(
        new Map([...ofAll].filter(([id]) => own.includes(id))),
      )
      expect([...(await usage.reportsOfKeys(owners[1], ids, query)).keys()]).toEqual(foreign)
      expect([...(await usage.reportsOfKeys(keys[1]?.caller ?? admin, ids, query)).keys()]).toEqual([ids[1]])
    }
  },
)

test("no caller reads another user's usage, whatever the groups", async () => {
  const [owner, other] = owners
  for (const group of DIMENSIONS) {
    expect((await ask(owner, { groupBy: [group] })).totals.calls).toBe(
      calls.filter(({ ownerId }) => ownerId === owner.userId).length,
    )
  }
  await expect(ask(owner, { ownerId: other.userId })).rejects.toMatchObject({ reason: 'user_not_found' })
  await expect(ask(owner, { keyId: keys[2]?.id })).rejects.toMatchObject({ reason: 'key_not_found' })
})

test('end users are combined with every other group, for all users, a user and a key', async () => {
  const [key] = keys as [TestKey]
  const views: [Principal, Partial<ReportQuery>, (call: Call) => boolean][] = [
    [admin, {}, () => true],
    [admin, { keyId: key.id }, ({ keyId }) => keyId === key.id],
    [admin, { ownerId: owners[1].userId }, ({ ownerId }) => ownerId === owners[1].userId],
    [owners[0], {}, ({ ownerId }) => ownerId === owners[0].userId],
    [key.caller, {}, ({ keyId }) => keyId === key.id],
  ]
  for (const group of DIMENSIONS) {
    const groupBy = [...new Set([group, 'end_user' as const])]
    for (const [caller, more, isSeen] of views) {
      const nameOf = (of: (name: RollupGroup) => string | undefined) => groupBy.map(of).join(' ')
      const truth = Map.groupBy(calls.filter(isSeen), (call) => nameOf((name) => VALUES[name](call)))
      const { groups } = await ask(caller, { ...more, groupBy })
      expect(groups).toHaveLength(truth.size)
      for (const each of groups) expectTruth(each.totals, truth.get(nameOf((name) => each.group[name])) ?? [])
    }
  }
})

test('calls past their retention are deleted from the ledger but stay in the reports', async () => {
  const [row] = await services.database.sql.query<{ days: number }>(
    "SELECT (date_trunc('day', now(), 'UTC')::date - DATE '2026-03-29')::int AS days",
  )
  const { upkeep } = createUsage({
    database: services.database,
    runtime: services.runtime,
    limits: ampleLimits(),
    config: { retentionDays: row?.days ?? 0 },
    catalog: { knownIds: () => new Set() },
  })
  // The ids of these calls contain today's time, by which rows are selected.
  await services.database.sql.query(
    `UPDATE calls SET id = (lpad(to_hex((extract(epoch FROM admitted_at) * 1000)::int8), 12, '0') || substr(replace(id::text, '-', ''), 13))::uuid`,
  )
  const kept = calls.filter(({ admittedAt }) => admittedAt >= new Date('2026-03-29T00:00:00Z')).length
  expect(await upkeep.prune()).toBe(calls.length - kept)
  expect(await upkeep.prune()).toBe(0)
  expect(await services.database.prisma.call.count({ where: { NOT: { outcome: null } } })).toBe(kept)
  expectTruth((await ask(admin)).totals, calls)
  expect(await upkeep.verify('all')).not.toContainEqual(
    expect.objectContaining({ equation: 'ledger = rollups' }),
  )
})

function expectTruth(metrics: UsageMetrics, truth: readonly Call[]): void {
  const reported = truth.filter(({ totalTokens }) => totalTokens !== null)
  const sum = (read: (call: Call) => number | null) =>
    reported.length === 0 ? null : truth.reduce((total, call) => total + (read(call) ?? 0), 0)
  const failures = ['upstream_error', 'timeout', 'drained', 'interrupted']
  expect(metrics).toMatchObject({
    calls: truth.length,
    failedCalls: truth.filter(({ outcome }) => failures.includes(outcome ?? '')).length,
    promptTokens: sum((call) => call.promptTokens),
    completionTokens: sum((call) => call.completionTokens),
    totalTokens: sum((call) => call.totalTokens),
    tokenCoverage: truth.length === 0 ? null : Math.round((reported.length / truth.length) * 1e4) / 1e4,
  })
  expectQuantiles(
    metrics.durationMs,
    truth.map(({ durationMs }) => durationMs),
  )
  expectQuantiles(
    metrics.firstChunkMs,
    truth.map(({ firstChunkMs }) => firstChunkMs),
  )
}

function expectQuantiles(quantiles: UsageMetrics['durationMs'], truth: readonly (number | null)[]): void {
  const sorted = truth.filter((value) => value !== null).sort((one, other) => one - other)
  expect(quantiles === null).toBe(sorted.length === 0)
  if (quantiles === null) return
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const value = sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
    expect(Math.abs(quantiles[name] - value) / value).toBeLessThan(0.05)
  }
}
