import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CALLERS, type CallerName, FAILING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

const FIELDS = `id requestId keyId ownerId endUser kind face agentId appId deployment model conversationId outcome reason attempts platformStatus
  platformCode platformLogId instanceId instance { host pid version } traceId promptTokens completionTokens totalTokens admittedAt queuedMs firstChunkMs durationMs endedAt replays rating ratingText
  paused answersId answeredById`

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A call in the names and words of REST. */
function asRest({
  kind,
  face,
  outcome,
  rating,
  agentId,
  appId,
  conversationId,
  instance,
  answersId,
  answeredById,
  ...call
}: Any): Any {
  const named = Object.entries(call).map(([name, value]) => [snakeCase(name), value])
  const words = {
    kind: kind.toLowerCase(),
    face: face.toLowerCase(),
    outcome: outcome?.toLowerCase() ?? null,
    rating: rating?.toLowerCase() ?? null,
    instance_host: instance?.host ?? null,
    instance_pid: instance?.pid ?? null,
    instance_version: instance?.version ?? null,
  }
  const ids = { agent: agentId, app: appId, conversation: conversationId }
  return { ...Object.fromEntries(named), ...words, ...ids, answers: answersId, answered_by: answeredById }
}

async function addCalls(count: number, call: object = {}): Promise<string> {
  const requestId = `many-${v7()}`
  const principal = face.callers['chat key'].principal
  const keyId = principal?.via.kind === 'key' ? principal.via.keyId : ''
  // The process itself, since the calls of one that is not alive are settled as interrupted.
  const { instance } = await face.gateway.prisma.call.findUniqueOrThrow({ where: { id: face.callId } })
  const first = await face.gateway.prisma.call.create({
    data: {
      id: v7(),
      requestId,
      keyId,
      ownerId: face.callers.premium.ownerId,
      kind: 'chat',
      face: 'rest',
      agent: FAILING_AGENT,
      instance,
      admittedAt: new Date(),
      ...call,
    },
  })
  // The others are copies of it, since a busy machine needs a minute to send thousands of rows.
  const ids = Array.from({ length: count - 1 }, () => v7())
  await face.database.sql.query(
    `INSERT INTO calls SELECT (jsonb_populate_record(c, jsonb_build_object('id', copy))).*
     FROM calls c, jsonb_array_elements_text($2::jsonb) AS copy WHERE c.id = $1::uuid`,
    [first.id, JSON.stringify(ids)],
  )
  return requestId
}

test('every caller sees the calls of REST, with the same values', async () => {
  for (const caller of CALLERS.filter((name) => name !== 'anonymous')) {
    const { items } = (await face.get(caller, '/api/v1/calls')).json().data
    const { data, errors } = await face.query(caller, `{ calls { totalCount nodes { ${FIELDS} } } }`)
    expect(errors).toBeUndefined()
    expect(data.calls.nodes.map(asRest)).toEqual(items)
    expect(data.calls.totalCount).toBe(items.length)
  }
})

test('administrators see the process that served a call; of one that ended long ago they see its id', async () => {
  const [one, other] = [v7(), v7()]
  await face.gateway.prisma.$executeRaw`INSERT INTO instances (id, started_at, host, pid, version)
    VALUES (${one}::uuid, now(), 'gateway-1', 42, '1.2.3')`
  const requestId = await addCalls(2, { instance: one })
  const ofGone = await addCalls(1, { instance: other })
  const ask = async (caller: CallerName, id: string) => {
    const fields = 'instanceId instance { host pid version }'
    const { data, errors } = await face.query(
      caller,
      `{ calls(filter: { requestId: "${id}" }) { nodes { ${fields} } } }`,
    )
    expect(errors).toBeUndefined()
    const { items } = (await face.get(caller, `/api/v1/calls?request_id=${id}`)).json().data
    const csv = (await face.get(caller, `/api/v1/calls?request_id=${id}&format=csv`)).body
    return { first: data.calls.nodes[0], item: items[0], csv }
  }

  const seen = await ask('admin', requestId)
  expect(seen.first).toEqual({ instanceId: one, instance: { host: 'gateway-1', pid: 42, version: '1.2.3' } })
  expect(seen.item).toMatchObject({
    instance_id: one,
    instance_host: 'gateway-1',
    instance_pid: 42,
    instance_version: '1.2.3',
  })
  expect(seen.csv.match(new RegExp(`${one},gateway-1,42,1.2.3`, 'g'))).toHaveLength(2)
  const gone = await ask('admin', ofGone)
  expect(gone.first).toEqual({ instanceId: other, instance: { host: null, pid: null, version: null } })
  expect(gone.item).toMatchObject({ instance_id: other, instance_host: null })

  const own = await ask('premium', requestId)
  expect(own.first).toEqual({ instanceId: null, instance: null })
  expect(own.item).toMatchObject({ instance_id: null, instance_host: null, instance_pid: null })
  expect(own.csv).not.toContain('gateway-1')
  expect(own.csv).not.toContain(one)
})

test('everybody who sees a call sees its deployment, its attempts, its wait and its replays, the same on every face', async () => {
  const sent = { deployment: 'eu', attempts: 3, queuedMs: 250, replays: 2 }
  const requestId = await addCalls(1, { outcome: 'done', ...sent })
  for (const caller of ['admin', 'premium', 'chat key'] as const) {
    const { data } = await face.query(
      caller,
      `{ calls(filter: { requestId: "${requestId}", deployment: "eu" }) { nodes { deployment attempts queuedMs replays } } }`,
    )
    expect(data.calls.nodes).toEqual([sent])
    const path = `/api/v1/calls?request_id=${requestId}&deployment=eu`
    const { items } = (await face.get(caller, path)).json().data
    const { queuedMs, ...named } = sent
    expect(items).toEqual([expect.objectContaining({ ...named, queued_ms: queuedMs })])
    const [names = '', cells = ''] = (await face.get(caller, `${path}&format=csv`)).body.split('\r\n')
    const cellOf = (name: string) => cells.split(',')[names.split(',').indexOf(name)]
    expect(['deployment', 'attempts', 'queued_ms', 'replays'].map(cellOf)).toEqual(['eu', '3', '250', '2'])
  }
  const unknown = await addCalls(1)
  const { items } = (await face.get('admin', `/api/v1/calls?request_id=${unknown}`)).json().data
  expect(items).toEqual([
    expect.objectContaining({ deployment: null, attempts: null, queued_ms: null, replays: 0 }),
  ])
})

test('a call that paused and the call that answered it lead to each other on every face, and are found by the filter', async () => {
  const [question, answer] = [v7(), v7()]
  const conversation = `paused-${v7()}`
  const done = { outcome: 'done', conversation }
  await addCalls(1, { ...done, id: question, paused: true, answeredBy: answer })
  await addCalls(1, { ...done, id: answer, answers: question })

  for (const caller of ['admin', 'premium', 'chat key'] as const) {
    const fields =
      'id paused answersId answers { id answeredBy { id } } answeredById answeredBy { id answersId }'
    const filtered = async (paused?: boolean) => {
      const filter = `conversationId: "${conversation}"${paused === undefined ? '' : `, paused: ${paused}`}`
      const { data, errors } = await face.query(
        caller,
        `{ calls(filter: { ${filter} }) { totalCount nodes { ${fields} } } }`,
      )
      expect(errors).toBeUndefined()
      expect(data.calls.totalCount).toBe(data.calls.nodes.length)
      const path = `/api/v1/calls?conversation=${conversation}${paused === undefined ? '' : `&paused=${paused}`}`
      const { items } = (await face.get(caller, path)).json().data
      const csv = (await face.get(caller, `${path}&format=csv`)).body.trimEnd().split('\r\n')
      const place = csv[0]?.split(',').indexOf('paused')
      const ofCsv = csv.slice(1).map((line) => line.split(',')[place ?? -1])
      expect(ofCsv).toEqual(items.map((item: Any) => String(item.paused)))
      return { nodes: data.calls.nodes, items }
    }
    const asked = {
      node: { id: question, paused: true, answersId: null, answers: null, answeredById: answer },
      item: { id: question, paused: true, answers: null, answered_by: answer },
    }
    const answering = {
      node: { id: answer, paused: false, answersId: question, answeredById: null, answeredBy: null },
      item: { id: answer, paused: false, answers: question, answered_by: null },
    }
    const withLink = {
      asked: { ...asked.node, answeredBy: { id: answer, answersId: question } },
      answering: { ...answering.node, answers: { id: question, answeredBy: { id: answer } } },
    }
    const all = await filtered()
    expect(all.nodes).toEqual([withLink.answering, withLink.asked])
    expect(all.items).toMatchObject([answering.item, asked.item])
    const paused = await filtered(true)
    expect(paused.nodes).toEqual([withLink.asked])
    expect(paused.items).toMatchObject([asked.item])
    const others = await filtered(false)
    expect(others.nodes).toEqual([withLink.answering])
    expect(others.items).toMatchObject([answering.item])
  }
  const { data } = await face.query(
    'neighbour',
    `{ calls(filter: { conversationId: "${conversation}" }) { totalCount } }`,
  )
  expect(data.calls.totalCount).toBe(0)
})

test('of the call that answered, a key that does not see it gets the id alone', async () => {
  const question = v7()
  const answer = v7()
  await addCalls(1, { outcome: 'done', id: answer, keyId: v7(), answers: question })
  await addCalls(1, { outcome: 'done', id: question, paused: true, answeredBy: answer })
  const seenBy = async (caller: CallerName) => {
    const { data } = await face.query(
      caller,
      `{ call(id: "${question}") { answeredById answeredBy { id } } }`,
    )
    return data.call
  }
  expect(await seenBy('chat key')).toEqual({ answeredById: answer, answeredBy: null })
  expect(await seenBy('premium')).toEqual({ answeredById: answer, answeredBy: { id: answer } })
})

test('everybody who sees a call sees its attempts; what the platform said and the trace are for administrators', async () => {
  const stored = [
    {
      deployment: 'eu',
      start_ms: 0,
      duration_ms: 12,
      outcome: 'timeout',
      reason: 'agent_timeout',
      platform_status: 504,
    },
    {
      deployment: 'us',
      start_ms: 213,
      duration_ms: 40,
      outcome: 'word_of_tomorrow',
      reason: 'reason_of_tomorrow',
    },
    { of: 'another version' },
  ]
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const requestId = await addCalls(1, { outcome: 'done', attempts: 2, attemptList: stored, traceId })
  const ask = async (caller: CallerName, id: string) => {
    const fields = 'traceId attemptList { deployment startMs durationMs outcome reason platformStatus }'
    const { data, errors } = await face.query(
      caller,
      `{ calls(filter: { requestId: "${id}" }) { nodes { ${fields} } } }`,
    )
    expect(errors).toBeUndefined()
    const { items } = (await face.get(caller, `/api/v1/calls?request_id=${id}`)).json().data
    return { ...data.calls.nodes[0], ofRest: items[0].trace_id }
  }
  const attempts = (platformStatus: number | null) => [
    {
      deployment: 'eu',
      startMs: 0,
      durationMs: 12,
      outcome: 'TIMEOUT',
      reason: 'agent_timeout',
      platformStatus,
    },
    { deployment: 'us', startMs: 213, durationMs: 40, outcome: 'OTHER', reason: null, platformStatus: null },
  ]
  expect(await ask('admin', requestId)).toEqual({ traceId, ofRest: traceId, attemptList: attempts(504) })
  for (const caller of ['premium', 'chat key'] as const)
    expect(await ask(caller, requestId)).toEqual({ traceId: null, ofRest: null, attemptList: attempts(null) })
  const plain = await addCalls(1, { outcome: 'done', attempts: 1 })
  expect(await ask('admin', plain)).toEqual({ traceId: null, ofRest: null, attemptList: null })
})

test('pages follow each other without gaps, and only forwards', async () => {
  const requestId = await addCalls(5)
  const seen: string[] = []
  for (let after: string | null = null; ; ) {
    const { data }: Any = await face.query(
      'premium',
      `query ($after: String, $requestId: String) {
        calls(first: 2, after: $after, filter: { requestId: $requestId }) {
          edges { cursor node { id } } pageInfo { hasNextPage endCursor }
        }
      }`,
      { after, requestId },
    )
    seen.push(...data.calls.edges.map(({ node }: Any) => node.id))
    expect(data.calls.pageInfo.endCursor).toBe(data.calls.edges.at(-1).cursor)
    if (!data.calls.pageInfo.hasNextPage) break
    after = data.calls.pageInfo.endCursor
  }
  expect(seen).toHaveLength(5)
  expect(seen).toEqual(seen.toSorted().reverse())
  const cursor = Buffer.from(`GPC:S:${seen[2]}`).toString('base64')
  for (const page of [
    'last: 2',
    `last: 2, before: "${cursor}"`,
    `first: 2, before: "${cursor}"`,
    `before: "${cursor}"`,
  ]) {
    for (const query of [
      `{ calls(${page}) { nodes { id } } }`,
      `{ me { calls(${page}) { nodes { id } } } }`,
    ]) {
      const { errors } = await face.query('premium', query)
      // The lists do not declare these arguments.
      expect(errors?.[0]?.extensions.code, query).toBe('document_invalid')
    }
  }
})

test('a date is the start of that day in the time zone, for the pages and the count', async () => {
  const admittedAt = (time: string) => ({
    id: v7({ msecs: Date.parse(time) }),
    admittedAt: new Date(time),
  })
  const requestId = await addCalls(1, admittedAt('2026-10-31T15:59:59.999Z'))
  const later = await addCalls(1, admittedAt('2026-10-31T16:00:00Z'))
  const october = (id: string, timezone: string) =>
    `calls(timezone: "${timezone}", filter: { requestId: "${id}", from: "2026-10-31", to: "2026-11-01" }) { totalCount nodes { id } }`
  const { data } = await face.query(
    'premium',
    `{ last: ${october(requestId, 'Asia/Shanghai')} next: ${october(later, 'Asia/Shanghai')} utc: ${october(later, 'UTC')} }`,
  )
  expect(data).toMatchObject({
    last: { totalCount: 1 },
    next: { totalCount: 0, nodes: [] },
    utc: { totalCount: 1 },
  })
  const { errors } = await face.query('premium', '{ calls(timezone: "Mars/Olympus") { totalCount } }')
  expect(errors?.map(({ extensions }) => extensions.field)).toContain('timezone')
})

test('calls are filtered as in REST, and mistakes name the field', async () => {
  const running = await addCalls(3)
  const conversation = `chat-${v7()}`
  await addCalls(2, { conversation })
  const count = async (filter: string) => {
    const { data, errors } = await face.query('admin', `{ calls(filter: { ${filter} }) { totalCount } }`)
    return data.calls?.totalCount ?? errors?.[0]?.extensions.field
  }
  expect(await count(`requestId: "${running}"`)).toBe(3)
  expect(
    await count(`requestId: "${running}", outcome: RUNNING, ownerId: "${face.callers.premium.ownerId}"`),
  ).toBe(3)
  expect(await count(`requestId: "${running}", outcome: DONE`)).toBe(0)
  expect(await count(`requestId: "${running}", to: "2020-01-01"`)).toBe(0)
  expect(await count(`conversationId: "${conversation}"`)).toBe(2)
  expect(await count(`conversationId: "${conversation}", outcome: [DONE, FAILED]`)).toBe(0)
  const names = { app: 'app-1', deployment: 'eu', model: 'model-1', endUser: 'ada' }
  const named = `requestId: "${await addCalls(2, names)}"`
  expect(
    await count(
      `${named}, appId: "app-1", deployment: "eu", model: "model-1", endUser: "ada", kind: CHAT, face: REST`,
    ),
  ).toBe(2)
  const others = ['appId: ""', 'model: ""', 'endUser: "bob"', 'kind: UPLOAD', 'face: GRAPHQL']
  for (const other of [...others, 'deployment: ""', 'deployment: "us"'])
    expect(await count(`${named}, ${other}`), other).toBe(0)
  expect(await count('from: "yesterday"')).toBe('filter.from')
  expect(await count('from: "2026-11-21", to: "2026-11-20"')).toBe('filter.from')
  expect(await count('agentId: "nobody"')).toBe('filter.agentId')
  expect(await count(`deployment: "${'a'.repeat(257)}"`)).toBe('filter.deployment')
  expect(await count('requestId: null, agentId: null')).toEqual(expect.any(Number))
})

test('the number of calls is exact to 10,000, then null, and is read only if it is selected', async () => {
  const requestId = await addCalls(10_000)
  const page = (fields: string) => `{ calls(first: 1, filter: { requestId: "${requestId}" }) { ${fields} } }`
  expect((await face.query('premium', page('totalCount'))).data.calls.totalCount).toBe(10_000)
  await face.gateway.prisma.call.updateMany({
    where: {
      id: (await face.gateway.prisma.call.findFirstOrThrow({ where: { requestId: { not: requestId } } })).id,
    },
    data: { requestId },
  })
  const { data, errors } = await face.query('admin', page('totalCount nodes { id }'))
  expect([data.calls.totalCount, data.calls.nodes.length, errors]).toEqual([null, 1, undefined])
  const without = await face.statementsOf(() => face.query('premium', page('nodes { id }')))
  expect(await face.statementsOf(() => face.query('premium', page('totalCount')))).toBeGreaterThan(
    without + 10,
  )
})

test('a call is found by its id by those who see it; for others it does not exist', async () => {
  const [own] = (await face.get('premium', '/api/v1/calls?outcome=upstream_error')).json().data.items
  const find = (caller: (typeof CALLERS)[number], id: string) =>
    face.query(caller, 'query ($id: ID!) { call(id: $id) { id key { name } owner { username } } }', { id })
  expect((await find('premium', own.id)).data.call).toEqual({
    id: own.id,
    key: { name: 'a key' },
    owner: { username: 'premium' },
  })
  expect((await find('chat key', face.callId)).data.call).toEqual({
    id: face.callId,
    key: { name: 'a key' },
    owner: null,
  })
  for (const [caller, id] of [
    ['neighbour', own.id],
    ['premium', v7()],
    ['premium', 'no id'],
  ] as const) {
    const { data, errors } = await find(caller, id)
    expect(data.call).toBeNull()
    expect(errors).toMatchObject([
      { message: 'This call does not exist.', extensions: { code: 'call_not_found', status: 404 } },
    ])
  }
})

test.each([
  { by: 'call', document: (fields: string) => `{ found: call(id: "${face.callId}") { ${fields} } }` },
  {
    by: 'node',
    document: (fields: string) => `{ found: node(id: "${face.callId}") { ... on Call { ${fields} } } }`,
  },
])('what the platform said is shown to administrators alone, by $by', async ({ document }) => {
  const status = async (caller: (typeof CALLERS)[number]) =>
    (await face.query(caller, document('agentId platformStatus'))).data.found.platformStatus
  expect([await status('admin'), await status('premium'), await status('chat key')]).toEqual([
    500,
    null,
    null,
  ])
})

test('the agent of a call has the status that the list of agents shows', async () => {
  await addCalls(1)
  const { data, errors } = await face.query(
    'premium',
    '{ calls(first: 1) { nodes { agent { id status } } } agents { id status } }',
  )
  expect(errors).toBeUndefined()
  expect(data.agents).toContainEqual(data.calls.nodes[0].agent)
})
