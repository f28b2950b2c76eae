import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM, sendGraphql } from '../support/graphql.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { sendFile } from '../support/uploads.ts'

// A process, because the record, the counts and the log of one process must agree, and the log is its output.

interface Key {
  readonly id: string
  readonly full_key: string
  readonly owner_id: string
}

/** What the record has of one request. */
interface Recorded {
  readonly key_id: string | null
  readonly owner_id: string
  readonly face: string
  readonly route: string
  readonly agent: string
  readonly reason: string
  readonly status: number
  readonly limit: string
  readonly limit_points?: number | null
  readonly limit_window_seconds?: number | null
  readonly limit_of?: string | null
  readonly field: string | null
}

/** The faces that have chats, and where each names the agent and the message. */
const FACES = {
  rest: {
    face: 'rest',
    route: '/api/v1/chat',
    agentField: 'headers.agent',
    textField: 'body.query',
    send: (agent: string, query: unknown) => ({ headers: { agent }, body: chatBody({ query }) }),
  },
  openai: {
    face: 'openai',
    route: '/api/v1/chat/completions',
    agentField: 'model',
    textField: 'messages[0].content',
    send: (agent: string, content: unknown) => ({
      headers: {},
      body: { model: agent, messages: [{ role: 'user', content }] },
    }),
  },
  responses: {
    face: 'responses',
    route: '/api/v1/responses',
    agentField: 'model',
    textField: 'input',
    send: (agent: string, input: unknown) => ({ headers: {}, body: { model: agent, input } }),
  },
  graphql: {
    face: 'graphql',
    route: 'chat',
    agentField: 'input.agentId',
    textField: 'input.query',
    send: (agentId: string, query: unknown) => ({
      headers: {},
      body: {
        query: 'mutation ($input: ChatInput!) { chat(input: $input) { text } }',
        variables: { input: { agentId, query } },
      },
    }),
  },
  subscription: {
    face: 'graphql',
    route: 'chat',
    agentField: 'input.agentId',
    textField: 'input.query',
    send: (agentId: string, query: unknown) => ({
      headers: EVENT_STREAM,
      body: {
        query: 'subscription ($input: ChatInput!) { chat(input: $input) { __typename } }',
        variables: { input: { agentId, query } },
      },
    }),
  },
} as const
type FaceName = keyof typeof FACES
const NAMES = Object.keys(FACES) as FaceName[]

let system: GatewayWithSandbox
/** What each request must have on record, by its id. */
const expected = new Map<string, Partial<Recorded>>()
/** Requests that are no refusals. */
const absent = new Set<string>()
let strangers = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    settings: {
      limits: {
        chat: { points: 100_000 },
        agents: { points: 1 },
        reports: { points: 1 },
        calls: { points: 1 },
        reads: { points: 1 },
        streamsPerKey: 1,
      },
      chat: { bodyBytesMax: 65_536 },
    },
    agents: ({ openai }) => ({ one: { ...openai, concurrency: { max: 1, queue: 0, waitMs: 1_000 } } }),
    env: { LOG_LEVEL: 'info' },
  })
})
afterAll(() => system?.remove())

const newKey = (more: Record<string, unknown> = {}): Promise<Key> => system.api.createKey(system.token, more)
const chatHeaders = (id: string, credential: string) => ({
  authorization: `Bearer ${credential}`,
  'content-type': 'application/json',
  'x-request-id': id,
})

/** Asks a chat on a face; the request has this id. */
async function ask(
  name: FaceName,
  id: string,
  credential: string,
  agent = 'openai',
  text: unknown = 'Hello',
) {
  const { face, route, send } = FACES[name]
  const { headers, body } = send(agent, text)
  const response = await fetch(system.gateway.url + (face === 'graphql' ? '/graphql' : route), {
    method: 'POST',
    headers: { ...chatHeaders(id, credential), ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** The same, which must be refused and then be on record. */
async function refused(
  name: FaceName,
  { id: keyId, full_key, owner_id }: Key,
  recorded: Pick<Recorded, 'reason' | 'status'> & Partial<Recorded>,
  { agent = 'openai', text = 'Hello' as unknown } = {},
): Promise<void> {
  const id = `${name} ${recorded.reason} ${recorded.limit ?? ''}`.trim().replaceAll(' ', '-')
  const { face, route } = FACES[name]
  const answer = await ask(name, id, full_key, agent, text)
  expect(answer.text).toContain(recorded.reason)
  const common = { key_id: keyId, owner_id, face, route, agent, limit: '', field: null }
  expected.set(id, { ...common, ...recorded })
}

/** Sends anything, which must be refused and then be on record. */
async function refusedOf(
  id: string,
  credential: string,
  [method, path]: readonly [string, string],
  recorded: Partial<Recorded> & Pick<Recorded, 'status'>,
  init: RequestInit = {},
): Promise<void> {
  const headers = { authorization: `Bearer ${credential}`, 'x-request-id': id, ...init.headers }
  const response = await fetch(system.gateway.url + path, { method, ...init, headers })
  const text = await response.text()
  expect([id, response.status, text]).toEqual([id, recorded.status, text])
  expected.set(id, recorded)
}

describe.each(NAMES)('on %s, refusals', (name) => {
  const { agentField, textField } = FACES[name]
  const isOpenAi = name === 'openai' || name === 'responses'

  test('of mistakes and unknown agents are recorded', async () => {
    const key = await newKey()
    await refused(
      name,
      key,
      { reason: 'invalid_request', status: 400, field: textField },
      { text: isOpenAi ? 17 : ' ' },
    )
    const unknown = isOpenAi
      ? ({ reason: 'model_not_found', status: 404 } as const)
      : ({ reason: 'unknown_agent', status: 400 } as const)
    await refused(name, key, { ...unknown, agent: 'other', field: agentField }, { agent: 'nobody' })
  })

  test('of keys that are revoked, have expired or have a suspended owner are recorded', async () => {
    const revoked = await newKey()
    await system.api.call('POST', `/api/v1/api-keys/${revoked.id}/revoke`, { token: system.token })
    await refused(name, revoked, { reason: 'key_revoked', status: 401 })
    const owner = await system.api.createUser(system.token, `suspended-${name}`, { role: 'premium' })
    const suspended = await newKey({ owner_id: owner.id })
    await system.api.call('PATCH', `/api/v1/users/${owner.id}`, {
      token: system.token,
      body: { status: 'suspended' },
    })
    await refused(name, suspended, { reason: 'owner_suspended', status: 401 })
    const expired = await newKey({ expires_at: new Date(Date.now() + 1_500).toISOString() })
    await until('the key has expired', async () =>
      (await ask(name, `${name}-until`, expired.full_key)).text.includes('key_expired'),
    )
    await refused(name, expired, { reason: 'key_expired', status: 401 })
  })

  test('of keys without the permission or the agent are recorded', async () => {
    const permissions = await newKey({ permissions: ['upload'] })
    await refused(name, permissions, { reason: 'permission_denied', status: 403 })
    const allowed = await newKey({ allowed_agents: ['dify'] })
    await refused(name, allowed, { reason: 'agent_denied', status: 403 })
  })

  test('by the limits of the key, of the quota, and of the slots of an agent are recorded', async () => {
    const limited = await newKey({ limits: { chat_per_minute: 1 } })
    await ask(name, `${name}-within`, limited.full_key)
    absent.add(`${name}-within`)
    const reached = { limit_points: 1, limit_window_seconds: 60, limit_of: 'key' }
    await refused(name, limited, { reason: 'rate_limited', status: 429, limit: 'chat', ...reached })

    const poor = await system.api.createUser(system.token, `poor-${name}`, {
      max_api_calls: 0,
      role: 'premium',
    })
    const used = await newKey({ owner_id: poor.id })
    await refused(name, used, { reason: 'quota_exceeded', status: 429, limit: 'quota' })

    const holder = await newKey()
    const leave = new AbortController()
    const open = await system.api.chat(
      holder.full_key,
      'one',
      { stream: true, query: 'sandbox:silence' },
      { signal: leave.signal },
    )
    await readerOf(open).until(/content/)
    const waiting = { reason: 'agent_overloaded', status: 503, limit: 'agent_slots' } as const
    await refused(name, await newKey(), waiting, { agent: 'one' })
    leave.abort()
    await until(
      'the slot is free',
      async () =>
        !(await ask('rest', `${name}-free`, holder.full_key, 'one')).text.includes('agent_overloaded'),
    )
  })

  test('do not include a call that fails, which is in the ledger', async () => {
    const key = await newKey()
    const { text } = await ask(name, `${name}-failed`, key.full_key, 'openai', 'sandbox:error=server')
    expect(text).toContain('agent_error')
    absent.add(`${name}-failed`)
  })

  test('of unknown keys are counted and not kept', async () => {
    const { full_key } = await newKey()
    const { makeApiKey } = await import('@trunkline/gateway/src/core/accounts/keys/key-format.ts')
    const { randomBytes } = await import('node:crypto')
    expect(full_key).toMatch(/^tl_/)
    expect((await ask(name, `${name}-stranger`, makeApiKey(randomBytes))).text).toContain('key_unknown')
    absent.add(`${name}-stranger`)
    strangers += 1
  })
})

describe('refusals of other requests are recorded:', () => {
  test('of a second stream of a key that may hold one', async () => {
    const key = await newKey()
    const leave = new AbortController()
    const more = { stream: true, query: 'sandbox:silence' }
    const open = await system.api.chat(key.full_key, 'openai', more, { signal: leave.signal })
    await readerOf(open).until(/content/)
    const recorded = { key_id: key.id, owner_id: key.owner_id, status: 429, reason: 'rate_limited' }
    await refusedOf(
      'streams-per-key',
      key.full_key,
      ['POST', '/api/v1/chat'],
      { ...recorded, limit: 'streams_per_key', agent: 'openai', face: 'rest' },
      {
        headers: { agent: 'openai', 'content-type': 'application/json' },
        body: JSON.stringify(chatBody({ stream: true })),
      },
    )
    leave.abort()
  })

  test('of bodies that are too large, no JSON, or of another type', async () => {
    const key = await newKey()
    const common = { key_id: key.id, owner_id: key.owner_id, face: 'openai', limit: '' }
    const post = ['POST', '/api/v1/chat/completions'] as const
    const json = { 'content-type': 'application/json' }
    const credential = key.full_key
    await refusedOf(
      'too-large',
      credential,
      post,
      { ...common, status: 413, reason: 'body_too_large' },
      {
        headers: json,
        body: 'x'.repeat(30 * 1024 * 1024),
      },
    )
    await refusedOf(
      'no-json',
      credential,
      post,
      { ...common, status: 400, reason: 'invalid_json' },
      {
        headers: json,
        body: '{',
      },
    )
    await refusedOf(
      'other-type',
      credential,
      post,
      { ...common, status: 415, reason: 'unsupported_media_type' },
      { headers: { 'content-type': 'text/csv' }, body: 'a,b' },
    )
  })

  test('of an Idempotency-Key that stands for another request', async () => {
    const key = await newKey()
    const send = (id: string, query: string) =>
      fetch(`${system.gateway.url}/api/v1/chat`, {
        method: 'POST',
        headers: { ...chatHeaders(id, key.full_key), agent: 'openai', 'idempotency-key': 'order-17' },
        body: JSON.stringify(chatBody({ query })),
      })
    expect((await send('kept-first', 'Hello')).status).toBe(200)
    expect((await send('kept-again', 'Hello')).status).toBe(200)
    expect((await send('mismatch', 'Bye')).status).toBe(422)
    for (const id of ['kept-first', 'kept-again']) absent.add(id)
    const reason = 'idempotency_mismatch'
    expected.set('mismatch', { key_id: key.id, owner_id: key.owner_id, reason, status: 422, agent: 'openai' })
  })

  test('of uploads, for the limit, the permission and the form', async () => {
    const key = await newKey({ permissions: ['upload'], limits: { upload_per_minute: 1 } })
    const common = { key_id: key.id, owner_id: key.owner_id, face: 'rest', route: '/api/v1/upload' }
    expect((await sendFile(system.gateway.url, key.full_key, 'a text')).status).toBe(200)
    const form = (fields: Readonly<Record<string, string>>) => {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.set(name, value)
      if (fields.created_by !== undefined) body.set('file', new Blob(['a text']), 'note.txt')
      return { body }
    }
    const post = ['POST', '/api/v1/upload'] as const
    const limited = { ...common, status: 429, reason: 'rate_limited', limit: 'upload' }
    await refusedOf('upload-limit', key.full_key, post, limited, form({ created_by: 'me' }))
    const lacking = { ...common, status: 400, reason: 'invalid_request', field: 'body' }
    await refusedOf('upload-form', key.full_key, post, lacking, form({ other: 'x' }))
    const chatKey = await newKey()
    const denied = { key_id: chatKey.id, status: 403, reason: 'permission_denied', route: '/api/v1/upload' }
    await refusedOf('upload-permission', chatKey.full_key, post, denied, form({ created_by: 'me' }))
  })

  test.each([
    ['agents', '/api/v1/agents'],
    ['reports', '/api/v1/usage'],
    ['calls', '/api/v1/calls'],
    ['reads', '/api/v1/api-keys'],
  ])('of requests over the limit %s', async (limit, path) => {
    const key = await newKey({ permissions: ['admin'] })
    const first = await fetch(system.gateway.url + path, {
      headers: { authorization: `Bearer ${key.full_key}` },
    })
    expect([first.status, await first.text()]).toMatchObject([200, expect.any(String)])
    const recorded = { key_id: key.id, owner_id: key.owner_id, status: 429, reason: 'rate_limited', limit }
    await refusedOf(`limit-${limit}`, key.full_key, ['GET', path], { ...recorded, route: path })
  })

  test('of tokens that were revoked or whose user is suspended', async () => {
    const user = await system.api.createUser(system.token, 'leaving')
    const ofUser = { key_id: null, owner_id: user.id, status: 401 }
    const token = await system.api.login(user.username, user.password)
    await system.api.call('POST', '/api/v1/logout', { token })
    const get = ['GET', '/api/v1/users/me'] as const
    await refusedOf('token-revoked', token, get, { ...ofUser, reason: 'token_revoked' })
    const other = await system.api.login(user.username, user.password)
    const suspending = { token: system.token, body: { status: 'suspended' } }
    await system.api.call('PATCH', `/api/v1/users/${user.id}`, suspending)
    await refusedOf('token-suspended', other, get, { ...ofUser, reason: 'owner_suspended' })
  })

  test('of users who may not do what they ask', async () => {
    const user = await system.api.createUser(system.token, 'curious')
    const token = await system.api.login(user.username, user.password)
    const denied = { key_id: null, owner_id: user.id, status: 403, reason: 'role_denied' }
    await refusedOf('role', token, ['GET', '/api/v1/users'], denied)
  })

  test('of documents of GraphQL before they run', async () => {
    const key = await newKey({ permissions: ['admin'] })
    const send = async (id: string, query: string, variables?: object) => {
      const options = { as: key.full_key, headers: { 'x-request-id': id }, ...(variables && { variables }) }
      await (await sendGraphql(system.gateway, query, options)).text()
    }
    const common = { key_id: key.id, owner_id: key.owner_id, face: 'graphql', route: '/graphql', status: 400 }
    await send('malformed', '{ me { ')
    expected.set('malformed', { ...common, reason: 'document_malformed' })
    await send('invalid', '{ me { nothing } }')
    expected.set('invalid', { ...common, reason: 'document_invalid' })
    const deep = `{ apiKeys { nodes { ${'owner { apiKeys { nodes { '.repeat(12)} id ${'} } }'.repeat(12)} } } }`
    await send('too-large-operation', deep)
    expected.set('too-large-operation', { ...common, reason: 'operation_too_large', limit: 'operation_size' })
  })
})

describe('what is on record', () => {
  let rows: Map<string, Recorded[]>

  beforeAll(async () => {
    // Whatever is left is written at the end; an embedded database has one user at a time.
    await system.gateway.stop()
    const all = await system.gateway.query<Recorded & { request_id: string }>('SELECT * FROM refusals')
    rows = Map.groupBy(all, ({ request_id }) => request_id)
  })

  test('every refusal has one row, with whose it was, where, why, by which limit and for which field', () => {
    const found = Object.fromEntries([...expected].map(([id]) => [id, rows.get(id)]))
    const wanted = Object.fromEntries([...expected].map(([id, recorded]) => [id, [recorded]]))
    expect(found).toMatchObject(wanted)
  })

  test('calls that were admitted have none, nor have strangers', () => {
    expect([...absent].filter((id) => rows.has(id))).toEqual([])
  })

  test('the counts are those of the rows, and strangers are counted by reason', async () => {
    const counts = await system.gateway.query<{ reason: string; n: number }>(
      `SELECT reason, sum(count)::int AS n FROM refusal_counts WHERE owner_id <> '' GROUP BY 1 ORDER BY 1`,
    )
    const singles = await system.gateway.query(
      'SELECT reason, count(*)::int AS n FROM refusals GROUP BY 1 ORDER BY 1',
    )
    // More than 20 of a reason and key are counted alone.
    expect(counts.filter(({ reason }) => reason !== 'key_expired' && reason !== 'agent_overloaded')).toEqual(
      singles.filter(
        (row) => !['key_expired', 'agent_overloaded'].includes((row as { reason: string }).reason),
      ),
    )
    expect(
      await system.gateway.query(
        `SELECT key_id, agent, "limit", sum(count)::int AS n FROM refusal_counts WHERE reason = 'key_unknown' GROUP BY 1, 2, 3`,
      ),
    ).toEqual([{ key_id: '', agent: '', limit: '', n: strangers }])
  })

  test('an unknown key is in the audit log with the address that sent it, once a minute for all faces', async () => {
    const events = await system.gateway.query<{ address: string; request_id: string }>(
      `SELECT address, request_id, after FROM audit_events WHERE operation = 'authenticate' AND reason = 'key_unknown'`,
    )
    expect(events.length).toBeGreaterThan(0)
    expect(events.length).toBeLessThan(strangers)
    for (const event of events)
      expect(event).toEqual({
        address: '127.0.0.1',
        request_id: expect.stringMatching(/-stranger$/),
        after: expect.stringMatching(/^\{"operation":"[^"]+"\}$/),
      })
  })

  test('the log line of each names the key, the owner, and the limit', () => {
    const lines = system.gateway.stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ msg }) => msg === 'request')
    const byId = new Map(lines.map((line) => [line.reqId, line]))
    // The credential of a document that does not run is looked up when the answer is under way.
    const late = ['malformed', 'invalid', 'too-large-operation']
    for (const [id, { key_id, owner_id, reason, limit }] of expected) {
      if (late.includes(id)) continue
      expect(byId.get(id)).toMatchObject({
        reason,
        ...(owner_id !== undefined && { owner: owner_id }),
        ...(typeof key_id === 'string' && { key: key_id }),
        ...(limit !== undefined && limit !== '' && { limit }),
      })
    }
  })
})
