import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addToRollups } from '#core/database/table-rows.test-support.ts'
import { CALLERS, FAILING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

const METRICS =
  'calls failedCalls promptTokens completionTokens totalTokens tokenCoverage ratedUp ratedDown firstChunkMs { p50 p95 p99 } durationMs { p50 p95 p99 }'
const REPORT = `
  from to timezone granularity groupBy groupCount
  totals { ${METRICS} }
  points { start ${METRICS} }
  groups(first: 100) {
    keyId agentId appId model ownerId endUser outcome
    totals { ${METRICS} }
    points { start ${METRICS} }
  }`

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Values of GraphQL in the names and words of REST. */
function asRest(value: Any): Any {
  if (Array.isArray(value)) return value.map(asRest)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snakeCase(name), asRest(each)]))
}

const GROUP_FIELDS: Record<string, string> = {
  key: 'key_id',
  agent: 'agent_id',
  app: 'app_id',
  model: 'model',
  user: 'owner_id',
  end_user: 'end_user',
  outcome: 'outcome',
}

describe('a report has the numbers of REST', () => {
  test.each([
    { arguments: '', query: '' },
    { arguments: '(groupBy: [KEY, OUTCOME])', query: '?group_by=key,outcome' },
    { arguments: '(groupBy: [AGENT, USER, END_USER])', query: '?group_by=agent,user,end_user' },
    {
      arguments: '(groupBy: [APP, MODEL], granularity: HOUR)',
      query: '?group_by=app,model&granularity=hour',
    },
    {
      arguments: `(groupBy: [KEY], filter: { agentId: "${FAILING_AGENT}", appId: "", model: "", endUser: "", outcome: [FAILED, REJECTED] })`,
      query: `?group_by=key&agent=${FAILING_AGENT}&app=&model=&end_user=&outcome=failed,rejected`,
    },
    {
      arguments: `(granularity: MONTH, timezone: "Asia/Shanghai", filter: { from: "2026-01-31", to: "2099-01-01T00:00:00Z", agentId: "${FAILING_AGENT}" })`,
      query: `?granularity=month&timezone=Asia/Shanghai&from=2026-01-31&to=2099-01-01T00:00:00Z&agent=${FAILING_AGENT}`,
    },
  ])('$arguments', async ({ arguments: given, query }) => {
    for (const caller of CALLERS.filter((name) => name !== 'anonymous')) {
      const rest = (await face.get(caller, `/api/v1/usage${query}`)).json().data
      const { data, errors } = await face.query(caller, `{ usage${given} { ${REPORT} } }`)
      expect(errors).toBeUndefined()
      const { points, groups, group_count, granularity, group_by, ...report } = asRest(data.usage)
      const { groups: ofRest, ...expected } = rest
      const words = (list: string[]) => list.map((word) => word.toLowerCase())
      expect({ ...report, granularity: granularity.toLowerCase(), group_by: words(group_by) }).toEqual(
        expected,
      )
      expect(group_count).toBe(ofRest.length)
      for (const [index, { group, totals, points: ofGroup }] of ofRest.entries()) {
        const one = groups[index]
        expect({ totals: one.totals, points: one.points }).toEqual({ totals, points: ofGroup })
        for (const [name, field] of Object.entries(GROUP_FIELDS)) {
          const value = name === 'outcome' ? (one[field]?.toLowerCase() ?? null) : one[field]
          expect(value).toBe(group[name] ?? null)
        }
      }
      if (ofRest.length === 1) expect(points).toEqual(ofRest[0].points)
    }
  })
})

test('groups resolve to the key, the user and the agent, if they are the caller’s to see', async () => {
  const document = `{ usage(groupBy: [KEY, USER, AGENT]) {
    groups { keyId key { id name } ownerId owner { id username } agentId agent { id name } appId } } }`
  const { data } = await face.query('admin', document)
  expect(data.usage.groups).toHaveLength(4)
  for (const group of data.usage.groups) {
    expect(group).toMatchObject({
      key: { id: group.keyId, name: 'a key' },
      owner: { id: group.ownerId, username: expect.any(String) },
      agent: { id: FAILING_AGENT, name: 'Failing' },
      appId: null,
    })
  }
  const ofKey = await face.query('chat key', document)
  expect(ofKey.errors).toBeUndefined()
  expect(ofKey.data.usage.groups).toMatchObject([
    { key: { name: 'a key' }, owner: null, agent: { name: 'Failing' } },
  ])
})

test('the period before is as long, and each group its totals in it', async () => {
  const { data } = await face.query(
    'premium',
    `{ usage(filter: { from: "2026-11-10", to: "2026-11-20" }) { from previous { from to granularity } } }`,
  )
  expect(data.usage.previous).toEqual({
    from: '2026-10-31T00:00:00.000Z',
    to: data.usage.from,
    granularity: 'DAY',
  })
  const [keyId] = await countedKeys(1, () => ({ calls: 7, tokens: 0 }), -1)
  await count(keyId ?? '', { calls: 9, tokens: 0 }, 0)
  const later = await face.query(
    'premium',
    `{ usage(groupBy: [KEY], filter: { from: "${dayAt(0).toISOString()}", to: "${dayAt(1).toISOString()}" }) {
      totals { calls }
      groups { totals { calls } previousTotals { calls } }
      previous { totals { calls } points { calls } previous { totals { calls } } }
    } }`,
  )
  expect(later.data.usage).toEqual({
    totals: { calls: 11 },
    groups: [
      { totals: { calls: 9 }, previousTotals: { calls: 7 } },
      { totals: { calls: 1 }, previousTotals: { calls: 0 } },
      { totals: { calls: 1 }, previousTotals: { calls: 0 } },
    ],
    previous: { totals: { calls: 7 }, points: [{ calls: 7 }], previous: { totals: { calls: 0 } } },
  })
})

test('groups that called only in the period before are listed with the numbers that they had', async () => {
  const [keyId] = await countedKeys(1, () => ({ calls: 5, tokens: 0 }), 3)
  const { data } = await face.query(
    'premium',
    `{ usage(groupBy: [KEY], filter: { from: "${dayAt(4).toISOString()}", to: "${dayAt(5).toISOString()}" }) {
      groups { keyId }
      missingGroups { keyId totals { calls } points { calls } previousTotals { calls } }
    } }`,
  )
  expect(data.usage.groups).toEqual([])
  expect(data.usage.missingGroups).toEqual([
    { keyId, totals: { calls: 0 }, points: [{ calls: 0 }], previousTotals: { calls: 5 } },
  ])
})

test('a report is compared with the period that was asked for, which may have another length', async () => {
  const previousOf = async (given: string) => {
    const { data } = await face.query(
      'premium',
      `{ usage(filter: { from: "2026-03-01", to: "2026-04-01" }, ${given}) { previous { from to points { start } } } }`,
    )
    const { from, to, points } = data.usage.previous
    return [from.slice(0, 10), to.slice(0, 10), points.length]
  }
  expect(await previousOf('compareFrom: "2026-02-01", compareTo: "2026-03-01"')).toEqual([
    '2026-02-01',
    '2026-03-01',
    28,
  ])
  expect(await previousOf('compareFrom: "2025-03-01"')).toEqual(['2025-03-01', '2025-04-01', 31])
})

test('the first groups are those with the most of what is asked for', async () => {
  const keys = await countedKeys(3, (index) => ({ calls: 100 - index, tokens: index * 1_500_000_000 }))
  const top = async (given: string) => {
    const document = `{ usage(groupBy: [KEY]) { groupCount groups${given} { keyId totals { totalTokens } } } }`
    return (await face.query('admin', document)).data.usage
  }
  expect((await top('(first: 2)')).groups.map(({ keyId }: Any) => keyId)).toEqual(keys.slice(0, 2))
  const byTokens = await top('(first: 2, orderBy: TOTAL_TOKENS)')
  expect(byTokens.groups.map(({ keyId }: Any) => keyId)).toEqual([keys[2], keys[1]])
  // More than GraphQL's Int can hold.
  expect(byTokens.groups[0].totals.totalTokens).toBe(3_000_000_000)
  expect(byTokens.groupCount).toBeGreaterThanOrEqual(3)
  expect(
    (await face.query('admin', '{ usage { totals { totalTokens } } }')).data.usage.totals.totalTokens,
  ).toBe(4_500_000_000)
})

test('the quota is that of the user, for every credential', async () => {
  const { data } = await face.query(
    'chat key',
    '{ usage { quota { maxApiCalls apiCallsCount remaining quotaPeriod resetsAt } } }',
  )
  expect(data.usage.quota).toEqual({
    maxApiCalls: 1_000_000,
    apiCallsCount: 2,
    remaining: 999_998,
    quotaPeriod: 'NONE',
    resetsAt: null,
  })
})

test('mistakes name the argument, and a refused part keeps the rest', async () => {
  const { data, errors } = await face.query(
    'premium',
    `{
      range: usage(filter: { from: "2026-02-02", to: "2026-02-01" }) { from }
      time: usage(filter: { from: "2026-02-30" }) { from }
      agent: usage(filter: { agentId: "nobody" }) { from }
      key: usage(filter: { keyId: "${v7()}" }) { from }
      zone: usage(timezone: "Asia/Kolkata") { from }
      running: usage(filter: { outcome: RUNNING }) { from }
      user: usage(filter: { ownerId: "${v7()}", endUser: "${'e'.repeat(257)}" }) { from }
      first: usage { groups(first: 101) { appId } }
      good: usage { timezone }
    }`,
  )
  expect(data).toEqual({
    range: null,
    time: null,
    agent: null,
    key: null,
    zone: null,
    running: null,
    user: null,
    first: null,
    good: { timezone: 'UTC' },
  })
  const places = errors?.map(({ path, extensions }) => [path?.[0], extensions.code, extensions.field])
  expect(places?.sort()).toEqual([
    ['agent', 'invalid_request', 'filter.agentId'],
    ['first', 'invalid_request', 'first'],
    ['key', 'key_not_found', undefined],
    ['range', 'invalid_request', 'filter.from'],
    ['running', 'invalid_request', 'filter.outcome'],
    ['time', 'invalid_request', 'filter.from'],
    ['user', 'invalid_request', 'filter.endUser'],
    ['zone', 'invalid_request', 'timezone'],
  ])
})

test('the points of a response are bounded', async () => {
  const document = (first: number) =>
    `{ usage(groupBy: [KEY], granularity: HOUR, filter: { from: "${dayAt(-39).toISOString()}" }) {
      totals { calls } groupCount groups(first: ${first}) { points { calls } } } }`
  await countedKeys(12, () => ({ calls: 1, tokens: 0 }))
  const few = await face.query('premium', document(10))
  expect(few.errors).toBeUndefined()
  expect(few.data.usage.groups).toHaveLength(10)
  const { data, errors } = await face.query('premium', document(12))
  expect(data).toEqual({ usage: null })
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'operation_too_large', status: 400 } })
})

test('the limit is in the headers, as on REST', async () => {
  const headersOf = async (document: string) => {
    const { authorization, ...payload } = { authorization: face.callers.premium.credential, query: document }
    const headers = { authorization: `Bearer ${authorization}` }
    return (await face.app.inject({ method: 'POST', url: '/graphql', headers, payload })).headers
  }
  const LEFT = /^"(\w+)";r=\d+;t=\d+$/
  expect(await headersOf('{ usage { from } }')).toMatchObject({
    'ratelimit-policy': '"reports";q=60;w=60',
    ratelimit: expect.stringMatching(LEFT),
  })
  expect(await headersOf('{ apiKeys { nodes { usageReport { from } } } }')).toMatchObject({
    'ratelimit-policy': '"reports";q=60;w=60',
  })
  expect(await headersOf('{ calls { totalCount } }')).toMatchObject({
    'ratelimit-policy': '"calls";q=300;w=60',
  })
  expect(await headersOf('{ me { id } }')).toMatchObject({ 'ratelimit-policy': '"reads";q=600;w=60' })
  expect(await headersOf('{ __typename }')).not.toHaveProperty('ratelimit')
})

test('the period before is in the price of a report, and what comes before that has its own', async () => {
  const priceOf = async (selection: string, document = `{ usage { ${selection} } }`) => {
    // The first answer of a limit shows what is left.
    await face.query('user', '{ usage { from } }')
    const before = face.pointsTaken()
    const { errors } = await face.query('user', document)
    expect(errors).toBeUndefined()
    return face.pointsTaken() - before
  }
  expect(await priceOf('from')).toBe(1)
  expect(
    await priceOf(
      'from previous { from } groups { previousTotals { calls } } missingGroups { totals { calls } }',
    ),
  ).toBe(1)
  expect(await priceOf('previous { from previous { from } }')).toBe(2)
  const ofKeys = 'usageReport { from previous { from totals { calls } } }'
  expect(await priceOf('', `{ apiKeys { nodes { ${ofKeys} } } }`)).toBe(1)
})

test('reports count towards the limit of REST, each by itself', async () => {
  const report = () => face.query('neighbour', '{ a: usage { from } b: usage { from } }')
  let refused: Any
  for (let request = 0; refused === undefined && request < 100; request += 1) {
    refused = (await report()).errors?.[0]
  }
  expect(refused).toMatchObject({
    extensions: { code: 'rate_limited', status: 429, retryAfterSeconds: expect.any(Number) },
  })
  expect((await face.get('neighbour', '/api/v1/usage')).statusCode).toBe(429)
})

describe('the number of statements does not depend on the number of rows', () => {
  test('keys with their usage, their counters, owner and creator', async () => {
    await countedKeys(50, () => ({ calls: 3, tokens: 1 }))
    const page = (first: number) => async () => {
      const { data, errors } = await face.query(
        'premium',
        `{ apiKeys(first: ${first}, state: ACTIVE) { nodes {
          id name usage { totalCalls callsToday lastUsedAt }
          usageReport(groupBy: [AGENT]) { totals { calls } points { start calls } groups { agent { name } totals { calls } } }
          owner { username } createdBy { username }
        } } }`,
      )
      expect(errors).toBeUndefined()
      expect(data.apiKeys.nodes).toHaveLength(first)
      for (const { usageReport, owner } of data.apiKeys.nodes) {
        expect(usageReport).toMatchObject({ totals: { calls: 3 }, groups: [{ agent: { name: 'Failing' } }] })
        expect(owner.username).toBe('premium')
      }
    }
    const few = await fewest(page(2))
    // Of the credential (2), the keys with their owners and creators, and of the reports the keys in scope and the sums.
    expect(few).toBeLessThanOrEqual(8)
    expect(await fewest(page(50))).toBe(few)
  })

  test('calls with their key, its usage, their owner and agent', async () => {
    const keys = await countedKeys(50, () => ({ calls: 1, tokens: 1 }))
    const rows = keys.map((keyId) => ({
      id: v7(),
      requestId: 'many',
      keyId,
      ownerId: face.callers.premium.ownerId,
      kind: 'chat' as const,
      face: 'rest' as const,
      agent: FAILING_AGENT,
      instance: v7(),
      admittedAt: new Date(),
      // Open calls of an instance that does not live are settled, and then counted once more.
      outcome: 'done' as const,
      endedAt: new Date(),
    }))
    await face.gateway.prisma.call.createMany({ data: rows })
    const page = (first: number) => async () => {
      const document = `{ calls(first: ${first}, filter: { requestId: "many" }) {
        nodes { id key { name createdBy { username } usageReport(groupBy: [AGENT]) { totals { calls } points { calls } } } owner { username } agent { name } } } }`
      const { data, errors } = await face.query('admin', document)
      expect(errors).toBeUndefined()
      expect(data.calls.nodes).toHaveLength(first)
      for (const { key, owner, agent } of data.calls.nodes) {
        expect(key).toMatchObject({ name: expect.any(String), usageReport: { totals: { calls: 1 } } })
        expect([owner.username, agent.name]).toEqual(['premium', 'Failing'])
      }
    }
    const few = await fewest(page(2))
    // Of the credential (2), the calls, their keys and the creators of those, their owners, and of the reports the keys in scope and the sums.
    expect(few).toBeLessThanOrEqual(9)
    expect(await fewest(page(50))).toBe(few)
  })
})

/**
 * The number of statements of the work. On an embedded database, a report is read in slices, whose number depends on how
 * fast the machine is; together they are the one statement that a server would get.
 */
async function fewest(work: () => Promise<unknown>): Promise<number> {
  const counts: number[] = []
  for (let time = 0; time < 3; time += 1) {
    const texts = await face.statements(work)
    const isSlice = (text: string) => text.includes('WITH slice AS MATERIALIZED')
    counts.push(texts.filter((text) => !isSlice(text)).length + (texts.some(isSlice) ? 1 : 0))
  }
  return Math.min(...counts)
}

interface Counted {
  readonly calls: number
  readonly tokens: number
}

/** Midnight UTC of today or of another day. */
function dayAt(days: number): Date {
  const day = new Date(Date.now() + days * 86_400_000)
  day.setUTCHours(0, 0, 0, 0)
  return day
}

/** Adds keys of premium with calls of today, or of another day, in the rollups. */
async function countedKeys(keys: number, usageOf: (index: number) => Counted, days = 0): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < keys; index += 1) {
    const id = await face.newKey(face.callers.premium.ownerId)
    await count(id, usageOf(index), days)
    ids.push(id)
  }
  return ids
}

/** Counts in hours and days, as the ledger does: of a day that goes on, a report reads the hours. */
async function count(keyId: string, { calls, tokens }: Counted, days: number): Promise<void> {
  const counted = { bucket: dayAt(days), agent: FAILING_AGENT, calls, totalTokens: tokens }
  for (const subject of [keyId, '']) {
    for (const span of ['hour', 'day'] as const)
      await addToRollups(face.gateway.prisma, { span, subject, ...counted })
  }
}
