import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import type { AgentInfo } from '#core/agents/directory.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { createLedger } from '#core/ledger/ledger.ts'
import { createUsage } from '#core/reports/usage.ts'
import type { Principal } from '#core/requests/principal.ts'
import { openUsersApp, type UsersApp } from './app.test-support.ts'
import { callRoutes } from './calls.ts'
import { usageRoutes } from './usage.ts'

let setup: UsersApp
let admin: Principal
let owner: Principal
let key: { id: string; fullKey: string }
let foreign: { id: string; fullKey: string }

beforeAll(async () => {
  setup = await openUsersApp()
  const { usage, calls } = createUsage({
    database: setup.database,
    runtime: setup.runtime,
    limits: setup.limits,
    config: { retentionDays: 400 },
    catalog: { knownIds: () => new Set(['dify', 'fastgpt']) },
  })
  const audit = { exported: () => Promise.resolve() }
  callRoutes(setup.app, { ...setup, calls, audit })
  usageRoutes(setup.app, {
    ...setup,
    usage,
    agents: { findMany: (_caller, ids) => ids.map((id) => ({ id, name: `The ${id}` }) as AgentInfo) },
    audit,
  })
  admin = await setup.join('admin')
  owner = await setup.join('premium')
  key = await setup.keyOf(owner)
  foreign = await setup.keyOf(await setup.join('premium'))

  const observer = { batch: () => undefined, settleFailed: () => undefined }
  const { sql } = setup.database
  const ledger = createLedger({ sql, runtime: systemRuntime, instanceId: v7(), observer })
  for (let index = 0; index < 7; index += 1) {
    const callId = v7()
    const { id: keyId, fullKey } = index < 5 ? key : foreign
    const by = { keyId, keyHash: hashKey(fullKey), address: '' }
    const named = { requestId: `=request-${index}`, agent: index % 2 === 0 ? 'dify' : 'fastgpt', app: '' }
    const placed = { endUser: '', conversation: `chat-${index % 3}`, kind: 'chat', face: 'rest' } as const
    await ledger.admit({ callId, ...by, ...named, ...placed })
    // The last of each key is still running.
    if (index === 4 || index === 6) continue
    const sent = { deployment: index === 1 ? 'eu' : 'main', attempts: 1, platformCode: 'p-1' }
    ledger.settle({ callId, outcome: index === 3 ? 'timeout' : 'done', ...sent, durationMs: 5 })
  }
  await ledger.close(5_000)
})
afterAll(() => setup.app.close())

const idsOf = async (as: Principal | string, query = '') => {
  const { data } = (await setup.call(as, 'GET', `/api/v1/calls${query}`)).json()
  return data.items.map((call: { request_id: string }) => call.request_id.slice('=request-'.length)).join('')
}

test('the ledger lists calls newest first: all to an admin, its own to a user, those of a key to that key', async () => {
  expect(await idsOf(admin)).toBe('6543210')
  expect(await idsOf(owner)).toBe('43210')
  expect(await idsOf(foreign.fullKey)).toBe('65')
})

test.each([
  ['agent=dify', '420'],
  ['outcome=timeout', '3'],
  ['outcome=running', '4'],
  ['outcome=failed', '3'],
  ['outcome=failed,running', '43'],
  ['kind=chat&face=rest&end_user=', '43210'],
  ['kind=upload', ''],
  ['model=nothing', ''],
  ['deployment=eu', '1'],
  ['deployment=main&agent=dify', '20'],
  ['deployment=', '4'],
  ['request_id=%3Drequest-2', '2'],
  ['conversation=chat-1', '41'],
  ['conversation=chat-1&agent=dify', '4'],
  ['conversation=chat-3', ''],
  ['from=2020-01-01', '43210'],
  ['to=2020-01-01', ''],
])('the filter %s gives the calls %s', async (query, expected) => {
  expect(await idsOf(owner, `?${query}`)).toBe(expected)
})

test('pages continue without a gap or a repetition while calls are added', async () => {
  let order = ''
  for (let cursor = ''; ; ) {
    const { data } = (await setup.call(owner, 'GET', `/api/v1/calls?limit=2${cursor}`)).json()
    order += data.items.map((call: { request_id: string }) => call.request_id.at(-1)).join('')
    if (data.next_cursor === null) break
    cursor = `&cursor=${data.next_cursor}`
  }
  expect(order).toBe('43210')
})

test("the platform's own status, code and log id are shown only to admins", async () => {
  const codes = async (as: Principal) => {
    const { data } = (await setup.call(as, 'GET', `/api/v1/calls?key_id=${key.id}&outcome=done`)).json()
    return data.items.map((call: { platform_code: string | null }) => call.platform_code)
  }
  expect(await codes(admin)).toEqual(['p-1', 'p-1', 'p-1'])
  expect(await codes(owner)).toEqual([null, null, null])
})

test('the CSV contains all calls, one on each line, and escapes formulas', async () => {
  const { headers, body } = await setup.call(owner, 'GET', '/api/v1/calls?format=csv')
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  const [head, ...lines] = body.trimEnd().split('\r\n')
  expect(head).toMatch(/^id,request_id,key_id,/)
  expect(lines.map((line) => line.split(',')[1])).toEqual([4, 3, 2, 1, 0].map((id) => `'=request-${id}`))
})

test.each(['calls', 'usage'])("a neighbour's key is not found in %s, in CSV as in JSON", async (list) => {
  for (const format of ['csv', 'json']) {
    const reply = await setup.call(owner, 'GET', `/api/v1/${list}?format=${format}&key_id=${foreign.id}`)
    expect(reply.statusCode).toBe(404)
    expect(reply.json()).toMatchObject({ reason: 'key_not_found' })
  }
})

test('a report counts only calls that have ended, grouped as requested, and its CSV has the same counts', async () => {
  const query = '/api/v1/usage?granularity=hour&group_by=outcome'
  const { data } = (await setup.call(owner, 'GET', query)).json()
  expect(data.totals).toMatchObject({ calls: 4, failed_calls: 1, token_coverage: 0, total_tokens: null })
  expect(data.groups.map(({ group }: { group: object }) => group)).toEqual([
    { outcome: 'done' },
    { outcome: 'timeout' },
  ])
  const [head = '', ...lines] = (await setup.call(owner, 'GET', `${query}&format=csv`)).body
    .trimEnd()
    .split('\r\n')
  const column = head.split(',').indexOf('calls')
  expect(lines.reduce((sum, line) => sum + Number(line.split(',')[column]), 0)).toBe(4)
  expect(lines).toHaveLength(2 * data.groups[0].points.length)
})

test.each([
  ['usage', 30],
  ['calls', 30],
])(
  '%s may be requested %i times a minute by a credential, and each response says what is left',
  async (list, points) => {
    const { fullKey } = await setup.keyOf(owner)
    const ask = (as: Principal | string) => setup.call(as, 'GET', `/api/v1/${list}?format=csv`)
    const policy = list === 'usage' ? 'reports' : 'calls'
    for (let left = points - 1; left >= 0; left -= 1) {
      const { statusCode, headers } = await ask(fullKey)
      expect([statusCode, headers.ratelimit]).toEqual([
        200,
        expect.stringMatching(`^"${policy}";r=${left};t=\\d+$`),
      ])
      expect(headers['ratelimit-policy']).toBe(`"${policy}";q=${points};w=60`)
    }
    const refused = await ask(fullKey)
    expect([refused.statusCode, refused.json().reason]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await ask(foreign.fullKey)).statusCode).toBe(200)
    // An invalid request does not count towards the limit.
    const { headers } = await setup.call(foreign.fullKey, 'GET', `/api/v1/${list}?from=never`)
    expect(headers.ratelimit).toBeUndefined()
  },
)

test.each(['usage', 'calls'])('%s rejects unknown parameters and invalid values', async (list) => {
  for (const [query, detail] of [
    ['granularitty=day', /^query\.granularitty: is not a known parameter/],
    ['agent=difi', /^query\.agent: /],
    ['agent=%00', /^query\.agent: must not contain control/],
    ['key_id=a%00b', /^query\.key_id: must not contain control/],
    ['owner_id=%0a', /^query\.owner_id: must not contain control/],
    ['from=2026-02-30', /^query\.from: /],
    ['to=2026-02-30T00:00:00Z', /^query\.to: /],
    ['from=0000-01-01', /^query\.from: /],
    ['from=1969-12-31', /^query\.from: /],
    ['end_user=a%00b', /^query\.end_user: must not contain control/],
    ['outcome=done,lost', /^query\.outcome: /],
    ['outcome=', /^query\.outcome: /],
    ['timezone=Mars/Olympus', /^query\.timezone: /],
    ['to=9999-12-31T23:59:59-23:00', /^query\.to: /],
  ] as const) {
    const reply = await setup.call(owner, 'GET', `/api/v1/${list}?${query}`)
    expect([query, reply.statusCode, reply.json().detail]).toEqual([
      query,
      400,
      expect.stringMatching(detail),
    ])
  }
})

test.each([
  ['group_by=colour', /^query\.group_by/],
  ['from=9999-12-31', /^query\.from/],
  ['from=9999-12-31&to=9999-12-31T12:00:00Z', /^query\.to/],
  ['from=yesterday', /^query\.from/],
  ['to=2026-01-01T00:00:00', /^query\.to/],
  ['timezone=Asia/Kolkata', /^query\.timezone/],
  ['outcome=running', /^query\.outcome/],
])('a report with %s is rejected', async (query, detail) => {
  const reply = await setup.call(owner, 'GET', `/api/v1/usage?${query}`)
  expect(reply.statusCode).toBe(400)
  expect(reply.json().detail).toMatch(detail)
})

test('a reset restarts the count of one period at zero and keeps the history', async () => {
  const usageOf = async () => (await setup.call(owner, 'GET', `/api/v1/api-keys/${key.id}`)).json().data.usage
  const reset = (period: string) =>
    setup.call(owner, 'POST', `/api/v1/api-keys/${key.id}/usage/reset`, { period })
  expect(await usageOf()).toMatchObject({ total_calls: 5, calls_today: 5, calls_this_month: 5 })
  await reset('day')
  expect(await usageOf()).toMatchObject({ total_calls: 5, calls_today: 0, calls_this_month: 5 })
  await reset('total')
  await reset('month')
  expect(await usageOf()).toMatchObject({ total_calls: 0, calls_today: 0, calls_this_month: 0 })
  expect(await idsOf(owner)).toBe('43210')
  const { data } = (await setup.call(owner, 'GET', '/api/v1/usage')).json()
  expect(data.totals.calls).toBe(4)
})

test('the CSV has totals, names and the clocks of the zone where they are asked for', async () => {
  const ask = async (query: string) => {
    const { body, statusCode } = await setup.call(owner, 'GET', `/api/v1/usage?format=csv&${query}`)
    expect(statusCode, body).toBe(200)
    const [head = '', ...lines] = body.trimEnd().split('\r\n')
    const columns = head.split(',')
    return lines.map((line) =>
      Object.fromEntries(line.split(',').map((cell, place) => [columns[place], cell])),
    )
  }
  const totals = await ask('rows=totals&labels=true&group_by=agent,key,user')
  expect(totals).toMatchObject([
    { agent: 'dify', agent_name: 'The dify', key: key.id, key_name: 'a key', user: owner.userId, calls: '2' },
    { agent: 'fastgpt', calls: '2', failed_calls: '1' },
  ])
  expect(totals[0]).not.toHaveProperty('start')

  const [point] = await ask('labels=true&timezone=Asia/Shanghai&from=2026-01-31&to=2026-02-02')
  expect(point).toMatchObject({ start: '2026-01-30T16:00:00.000Z', time: '2026-01-31', calls: '0' })
})

test('a report has the period before it where that is wanted, and takes one point with it', async () => {
  const day = (after: number) => new Date(Date.now() + after * 86_400_000).toISOString().slice(0, 10)
  const range = `from=${day(1)}&to=${day(2)}`
  const { fullKey } = await setup.keyOf(admin, { permissions: ['admin'] })
  let points = 30
  const ask = async (query: string) => {
    const response = await setup.call(
      fullKey,
      'GET',
      `/api/v1/usage?key_id=${key.id}&group_by=outcome&${query}`,
    )
    points -= 1
    expect(response.headers.ratelimit).toMatch(`r=${points};`)
    return response
  }
  const dataOf = async (query: string) => (await ask(query)).json().data
  expect(await dataOf(range)).not.toHaveProperty('previous')
  const { previous, ...report } = await dataOf(`${range}&previous=true`)
  expect(report).toEqual(await dataOf(`${range}&previous=false`))
  expect(report).toMatchObject({ totals: { calls: 0 }, groups: [] })
  // It is the report that a query for the period before gives.
  expect(previous).toEqual(await dataOf(`from=${day(0)}&to=${day(1)}`))
  expect(previous).toMatchObject({ totals: { calls: 4 }, groups: [{ group: { outcome: 'done' } }, {}] })
  const other = await dataOf(`${range}&previous=true&compare_from=2020-01-01&compare_to=2020-01-03`)
  expect(other.previous).toEqual(await dataOf('from=2020-01-01&to=2020-01-03'))

  const [head = '', done = ''] = (await ask(`${range}&previous=true&format=csv&rows=totals`)).body.split(
    '\r\n',
  )
  const cell = (name: string) => done.split(',')[head.split(',').indexOf(name)]
  expect([cell('calls'), cell('before_calls')]).toEqual(['0', '3'])
})

test('the CSV of a report that is compared has the numbers of the other period beside its own', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const ask = (query: string) =>
    setup.call(owner, 'GET', `/api/v1/usage?format=csv&rows=totals&group_by=outcome&${query}`)
  const left = ({ headers }: Awaited<ReturnType<typeof ask>>) =>
    Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1])
  const leftBefore = left(await ask('from=2020-01-01'))
  const response = await ask(`from=2020-01-01&to=2020-01-03&compare_from=${today}`)
  const { body, statusCode } = response
  expect(left(response)).toBe(leftBefore - 1)
  expect(statusCode, body).toBe(200)
  // Groups that called only in the other period have rows as well.
  const [, ...gone] = body.trimEnd().split('\r\n')
  const numbers = (line: string) => [0, 1, 14, 15].map((place) => line.split(',')[place])
  expect(gone.map(numbers)).toEqual([
    ['done', '0', '', '3'],
    ['timeout', '0', '', '1'],
  ])
  const before = await ask(`from=${today}&compare_from=2020-01-01`)
  expect(before.headers.ratelimit).toBeDefined()
  const [head = '', done = ''] = before.body.split('\r\n')
  const cell = (name: string) => done.split(',')[head.split(',').indexOf(name)]
  expect([cell('calls'), cell('before_calls'), cell('before_total_tokens')]).toEqual(['3', '0', ''])
  for (const [query, field] of [
    ['compare_to=2020-01-01', 'compare_from'],
    ['compare_from=2020-01-02&compare_to=2020-01-01', 'compare_from'],
    ['compare_from=never', 'compare_from'],
  ] as const) {
    const refused = await ask(query)
    expect([refused.statusCode, refused.json().detail]).toEqual([
      400,
      expect.stringContaining(`query.${field}`),
    ])
  }
})
