import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countRefusals, insertRefusal } from '#core/reports/refusals/refusals.test-support.ts'
import {
  CALLERS,
  type CallerName,
  FAILING_AGENT,
  REFUSING_LIMIT,
} from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An object in the names and words of REST. */
function asRest({ id, agentId, ...fields }: Any): Any {
  const named = Object.entries(fields).map(([name, value]) => [snakeCase(name), value])
  return {
    ...(id !== undefined && { id }),
    ...(agentId !== undefined && { agent: agentId }),
    ...Object.fromEntries(named),
  }
}

const itemsOf = async (caller: CallerName, path: string) => (await face.get(caller, path)).json().data?.items

test('every caller sees the refusals of REST and their counts, with the same values', async () => {
  const filter = `filter: { limitName: "${REFUSING_LIMIT}" }`
  const query = `limit_name=${encodeURIComponent(REFUSING_LIMIT)}`
  for (const caller of CALLERS.filter((name) => name !== 'anonymous')) {
    const { data, errors } = await face.query(
      caller,
      `{
        refusals(${filter}) { totalCount nodes { id requestId at keyId keyPrefix ownerId face route agentId reason status limit limitPoints limitWindowSeconds limitOf field } }
        refusalCounts(${filter}, per: DAY) { start keyId ownerId agentId reason limit count }
      }`,
    )
    expect(errors, caller).toBeUndefined()
    const items = await itemsOf(caller, `/api/v1/refusals?${query}`)
    const nodes = data.refusals.nodes.map((node: Any) => ({ ...asRest(node), face: node.face.toLowerCase() }))
    expect(nodes).toEqual(items)
    expect(data.refusals.totalCount).toBe(items.length)
    const counts = await itemsOf(caller, `/api/v1/refusals/counts?per=day&${query}`)
    expect(data.refusalCounts.map(asRest).map(({ start: _, ...row }: Any) => row)).toEqual(
      counts.map(({ start: _, ...row }: Any) => row),
    )
  }
})

test('administrators see the audit log and the processes of REST, with the same values', async () => {
  const { data, errors } = await face.query(
    'admin',
    `{
      auditEvents(first: 5, filter: { target: "api_key" }) { totalCount nodes { id n at operation result actor userId keyId tokenId name
        address requestId target targetId before after reason count hash } }
      gatewayProcesses { id host pid port version build state startedAt stoppedAt callsInFlight breakers { agentId }
        configuration { state number fingerprint since needsRestart error }
        concerns { concern cause since count blockedBy } }
    }`,
  )
  expect(errors).toBeUndefined()
  const events = await itemsOf('admin', '/api/v1/audit?limit=5&target=api_key')
  expect(events.length).toBe(5)
  expect(data.auditEvents.totalCount).toBeGreaterThanOrEqual(5)
  const shown = data.auditEvents.nodes.map(({ id, result, ...event }: Any) => {
    expect(id).toBe(String(event.n))
    return { ...asRest(event), result: result.toLowerCase() }
  })
  expect(shown).toEqual(
    // To the microsecond in REST.
    events.map(({ format: _, ...event }: Any) => ({ ...event, at: new Date(event.at).toISOString() })),
  )
  const [process, ...others] = await itemsOf('admin', '/api/v1/processes')
  expect(others).toEqual([])
  const { last_seen_at: _, ...known } = process
  const { needs_restart: needsRestart, ...served } = known.configuration
  const configuration = { ...served, needsRestart, state: 'CURRENT' }
  expect(data.gatewayProcesses.map(asRest)).toEqual([{ ...known, state: 'LIVE', configuration }])
})

test("a refusal leads to its key, owner and agent, as far as they are the caller's to see", async () => {
  const requestId = v7()
  const { keyId, ownerId } = (
    await face.query(
      'chat key',
      `{ refusals(filter: { limitName: "${REFUSING_LIMIT}" }) { nodes { keyId ownerId } } }`,
    )
  ).data.refusals.nodes[0]
  await insertRefusal(face.database.sql, { ownerId, keyId, requestId, agent: FAILING_AGENT })
  await countRefusals(face.database.sql, 3, { ownerId, keyId, limit: requestId })
  const fields = 'key { id } owner { username }'
  const document = `{
    refusal(requestId: "${requestId}") { ${fields} agent { id } }
    refusalCounts(filter: { limitName: "${requestId}" }) { ${fields} count }
  }`
  const premium = (await face.query('premium', document)).data
  const linked = { key: { id: keyId }, owner: { username: 'premium' } }
  expect(premium.refusal).toEqual({ ...linked, agent: { id: FAILING_AGENT } })
  expect(premium.refusalCounts).toEqual([{ ...linked, count: 3 }])
  expect((await face.query('chat key', document)).data.refusal).toMatchObject({
    key: { id: keyId },
    owner: null,
  })
  expect((await face.query('neighbour', document)).data).toEqual({ refusal: null, refusalCounts: [] })
})

test('pages follow each other without gaps, and only forwards', async () => {
  for (const [list, filter] of [
    ['refusals', `limitName: "${REFUSING_LIMIT}"`],
    ['auditEvents', 'target: "user"'],
  ]) {
    const idsOf = async (page: string) => {
      const { data } = await face.query(
        'admin',
        `{ ${list}(${page}, filter: { ${filter} }) { edges { node { id } } pageInfo { hasNextPage endCursor } } }`,
      )
      const { edges, pageInfo } = data[list ?? '']
      return { ids: edges.map(({ node }: Any) => node.id), pageInfo }
    }
    const all = await idsOf('first: 100')
    const seen: string[] = []
    for (let after = ''; ; ) {
      const { ids, pageInfo } = await idsOf(`first: 2${after}`)
      seen.push(...ids)
      if (!pageInfo.hasNextPage) break
      after = `, after: "${pageInfo.endCursor}"`
    }
    expect(seen.length).toBeGreaterThan(3)
    expect(seen).toEqual(all.ids)
    const { errors } = await face.query('admin', `{ ${list}(last: 2) { nodes { id } } }`)
    expect(errors?.[0]?.extensions.code).toBe('document_invalid')
  }
})

test.each([
  ['refusals(filter: { from: "never" }) { nodes { id } }', ['filter.from']],
  ['refusals(filter: { from: "never" }) { totalCount }', ['filter.from']],
  ['refusals(filter: { agentId: "difi" }) { totalCount }', ['filter.agentId']],
  [
    'refusals(filter: { reason: "none", limitName: "\\u0000" }) { nodes { id } }',
    ['filter.reason', 'filter.limitName'],
  ],
  ['refusals(after: "bad") { nodes { id } }', ['after']],
  ['refusals(first: 101) { nodes { id } }', ['first']],
  ['refusal(requestId: "\\u0000") { id }', ['requestId']],
  ['refusalCounts(filter: { reason: "none" }) { count }', ['filter.reason']],
  ['refusalCounts(filter: { from: "1990-01-01" }) { count }', ['filter.from']],
  [
    'auditEvents(filter: { userId: "me", keyId: "mine" }) { nodes { id } }',
    ['filter.userId', 'filter.keyId'],
  ],
  ['auditEvents(filter: { result: OTHER }) { nodes { id } }', ['filter.result']],
  ['auditEvents(filter: { from: "never" }) { totalCount }', ['filter.from']],
  ['auditEvents(after: "bad") { nodes { id } }', ['after']],
  ['auditEvent(n: 0) { id }', ['n']],
])('%s is refused at its mistakes', async (field, places) => {
  const { errors } = await face.query('admin', `{ ${field} }`)
  const [error] = errors ?? []
  expect(error?.extensions.code).toBe('invalid_request')
  const fields = (error?.extensions.fields ?? []) as { field: string }[]
  expect(fields.map((each) => each.field)).toEqual(places)
})

test('a list takes a point of the limit of REST, and its count another one', async () => {
  const pointsOf = async (fields: string) => {
    const before = face.pointsTaken()
    const { errors } = await face.query('premium', `{ refusals(first: 1) { ${fields} } }`)
    expect(errors).toBeUndefined()
    return face.pointsTaken() - before
  }
  await pointsOf('nodes { id }')
  expect([await pointsOf('nodes { id }'), await pointsOf('totalCount nodes { id }')]).toEqual([1, 2])
})

test('one response has a bounded number of counts, however often they are asked for', async () => {
  const limit = v7()
  await face.database.sql.query(
    `INSERT INTO refusal_counts (minute, owner_id, reason, "limit", count)
     SELECT date_trunc('minute', now()), '', 'r' || n, $1, 1 FROM generate_series(1, 6000) AS n`,
    [limit],
  )
  const one = `refusalCounts(filter: { limitName: "${limit}" }) { count }`
  const { data, errors } = await face.query('admin', `{ ${one} }`)
  expect([data.refusalCounts.length, errors]).toEqual([6_000, undefined])
  const twice = await face.query('admin', `{ a: ${one} b: ${one} }`)
  expect(twice.errors?.map(({ extensions }) => extensions.code)).toEqual(['operation_too_large'])
})
