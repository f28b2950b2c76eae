import { Trunkline } from '@trunkline/sdk'
import { describe, expect, test } from 'vitest'
import { OPERATIONS, type Operation } from '../support/contract/contract.ts'

/** Operations that have no method, each with the reason. */
const WITHOUT_METHOD: Readonly<Record<string, string>> = {
  createCompletion: 'for clients of OpenAI',
  createResponse: 'for clients of OpenAI',
  listModels: 'for clients of OpenAI',
  readModel: 'for clients of OpenAI',
  authLogin: 'another path of `login`',
  authLogout: 'another path of `logout`',
  deleteApiKey: 'the same as `revokeApiKey`',
  getJwks: 'for services that verify tokens themselves',
  getFile: 'the URL of an upload, which is public',
  live: 'for operators',
  ready: 'for operators',
  metrics: 'for operators',
  reloadConfiguration: 'for operators',
}

const ID = 'id-1'
const RANGE = { from: '2026-01-01', to: '2026-02-01', timezone: 'UTC' }
const CONDITIONS = { key_id: 'k', owner_id: 'u', agent: 'dify', app: 'a', model: 'm', end_user: 'e' }
const CALLS = { ...RANGE, ...CONDITIONS, outcome: ['done', 'failed'] } as const
const REPORT = { ...CALLS, granularity: 'day', group_by: ['agent'] } as const
const LEDGER = {
  ...CALLS,
  kind: 'chat',
  face: 'rest',
  deployment: 'd',
  request_id: 'r',
  conversation: 'c',
  reason: 'agent_timeout',
  first_chunk_ms_min: 1,
  duration_ms_min: 1,
  total_tokens_min: 1,
  paused: true,
} as const
const REFUSED = {
  ...RANGE,
  key_id: 'k',
  owner_id: 'u',
  agent: 'dify',
  reason: 'rate_limited',
  limit_name: 'chat',
} as const
const TALKS = { agent: 'dify', app: 'a', end_user: 'u', conversation: 'c', search: 's', owner_id: 'o' }
const AUDITED = {
  ...RANGE,
  key_id: 'k',
  user_id: 'u',
  operation: 'users.update',
  result: 'done',
  target: 'user',
  target_id: 't',
  request_id: 'r',
} as const
const ANSWER = { pause: 'p', option: 'approve' }
const CHAT = { agent: 'dify', query: 'Hello', user: 'ada', variables: { city: 'Bern' }, answer: ANSWER }
const LIMITS = { chat_per_minute: 1, upload_per_minute: 1 }

/** For each operation a use of its methods with everything that they take. */
const USES: Readonly<Record<string, (client: Trunkline) => Promise<unknown>>> = {
  chat: (client) => client.chat.create({ ...CHAT, idempotencyKey: 'k' }),
  // The answer of this test is no stream.
  resumeCall: (client) => client.calls.resume(ID, { after: 5 }).text().catch(ignored),
  readReply: (client) => client.calls.reply(ID),
  stopCall: (client) => client.calls.stop(ID),
  deleteReply: (client) => client.calls.deleteReply(ID),
  listAgents: (client) => client.agents.list(),
  listAgentDeployments: (client) => client.agents.deployments(ID),
  login: (client) => client.login({ username: 'ada', password: 'secret' }),
  logout: (client) => client.logout(),
  createApiKey: (client) =>
    client.apiKeys.create({
      name: 'a',
      description: 'b',
      expires_at: '2027-01-01T00:00:00Z',
      permissions: ['chat'],
      owner_id: 'u',
      allowed_agents: ['dify'],
      allowed_addresses: ['192.0.2.7'],
      limits: LIMITS,
    }),
  listApiKeys: (client) =>
    drain(
      client.apiKeys.list({
        limit: 1,
        search: 'a',
        state: 'active',
        order_by: 'name',
        order: 'asc',
        expires_before: '2030-01-01T00:00:00Z',
        expires_within: '30d',
        unused_for: '90d',
        owner_id: ID,
      }),
    ),
  getApiKey: (client) => client.apiKeys.get(ID),
  updateApiKey: (client) =>
    client.apiKeys.update(ID, {
      name: 'a',
      description: 'b',
      expires_at: new Date(),
      is_active: true,
      allowed_agents: ['dify'],
      allowed_addresses: ['192.0.2.7'],
      limits: LIMITS,
    }),
  rotateApiKey: (client) => client.apiKeys.rotate(ID, { overlap_seconds: 60 }),
  revokeApiKey: (client) => client.apiKeys.revoke(ID),
  endPreviousSecret: (client) => client.apiKeys.endPreviousSecret(ID),
  resetApiKeyUsage: (client) => client.apiKeys.resetUsage(ID, { period: 'day' }),
  getCurrentApiKey: (client) => client.apiKeys.current(),
  createUser: (client) =>
    client.users.create({
      username: 'ada',
      password: 'a long passphrase',
      role: 'user',
      max_api_calls: 1,
      quota_period: 'day',
    }),
  listUsers: (client) =>
    drain(
      client.users.list({
        limit: 1,
        search: 'a',
        state: 'active',
        role: 'user',
        quota_percent_min: 1,
        order_by: 'username',
        order: 'asc',
      }),
    ),
  getMe: (client) => client.me(),
  changeOwnPassword: (client) => client.users.changePassword({ current_password: 'a', new_password: 'b' }),
  getUser: (client) => client.users.get(ID),
  updateUser: (client) =>
    client.users.update(ID, { role: 'user', status: 'active', max_api_calls: 1, quota_period: 'day' }),
  setPassword: (client) => client.users.setPassword(ID, { password: 'a long passphrase' }),
  readUsage: async (client) => {
    const compared = { previous: true, compare_from: '2026-10-01', compare_to: new Date() }
    await client.usage.query({ ...REPORT, ...compared })
    await client.usage.csv({ ...REPORT, ...compared, rows: 'totals', labels: true })
  },
  listCalls: async (client) => {
    await drain(client.calls.list({ ...LEDGER, limit: 1 }))
    await client.calls.csv(LEDGER)
  },
  getCall: (client) => client.calls.get(ID),
  listRefusals: async (client) => {
    await drain(client.refusals.list({ ...REFUSED, limit: 1, request_id: 'r' }))
    await client.refusals.csv({ ...REFUSED, request_id: 'r' })
  },
  listConversations: async (client) => {
    await drain(client.conversations.list({ ...TALKS, limit: 1 }))
    await client.conversations.csv(TALKS)
  },
  getConversation: (client) => client.conversations.get(ID),
  listMessages: (client) => client.conversations.messages(ID, { limit: 1, before: 'b' }),
  renameConversation: (client) => client.conversations.rename(ID, 'Holiday plans'),
  deleteConversation: (client) => client.conversations.delete(ID),
  rateCall: (client) => client.conversations.rate(ID, { rating: 'up', text: 'Just right.' }),
  countRefusals: async (client) => {
    await client.refusals.counts({ ...REFUSED, per: 'day' })
    await client.refusals.countsCsv({ ...REFUSED, per: 'day' })
  },
  listAuditEvents: async (client) => {
    await drain(client.audit.list({ ...AUDITED, limit: 1 }))
    await client.audit.csv(AUDITED)
  },
  listProcesses: (client) => client.processes.list({ state: 'live' }),
  listUploads: (client) => drain(client.uploads.list({ limit: 1 })),
  getUpload: (client) => client.uploads.get(ID),
  deleteUpload: (client) => client.uploads.delete(ID),
  eraseEndUser: (client) => client.endUsers.erase({ end_user: 'ann', owner_id: ID }),
  upload: (client) =>
    client.uploads.create(new Blob(['x']), { created_by: 'ada', end_user: 'ann', agent: 'dify' }),
}

test('every operation of the contract has a method, or a reason to have none', () => {
  expect(OPERATIONS.length).toBeGreaterThan(30)
  const known = [...Object.keys(USES), ...Object.keys(WITHOUT_METHOD)]
  expect(known.sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
})

const COVERED = OPERATIONS.flatMap((operation) => {
  const use = USES[operation.id]
  return use === undefined ? [] : [{ ...operation, use }]
})

describe.each(COVERED)('$id', ({ use, ...operation }) => {
  test('is what the method requests, with every parameter and field', async () => {
    const requests: Request[] = []
    const client = new Trunkline({
      baseURL: 'http://gateway.test',
      apiKey: 'key',
      accessToken: 'token',
      fetch: async (input, init) => {
        requests.push(new Request(input, init))
        // A second page shows that the cursor is sent.
        return Response.json({
          code: 0,
          data: { items: [], next_cursor: requests.length === 1 ? 'c' : null },
        })
      },
    })
    await use(client)
    const urls = requests.map(({ url }) => new URL(url))
    for (const [index, { pathname }] of urls.entries()) {
      expect([requests[index]?.method, pathname]).toEqual([operation.method, pathOf(operation)])
    }
    const sent = new Set(urls.flatMap(({ searchParams }) => [...searchParams.keys()]))
    const query = operation.query.filter((name) => isSent(operation, name))
    expect([...sent].sort()).toEqual(query.sort())
    const [request] = requests
    const required = operation.parameters.filter(
      ({ in: place, name }) => place === 'header' && isSent(operation, name),
    )
    for (const { name } of required) expect(request?.headers.get(name), name).not.toBeNull()
    if (operation.body === undefined) return
    expect(Object.keys(await request?.json()).sort()).toEqual([...operation.body.fields.keys()].sort())
  })
})

/** Parameters that no method sends. */
const NOT_SENT: Readonly<Record<string, readonly string[]>> = {
  // A stream is resumed on a route of its own, which also takes the id of the call.
  chat: ['Last-Event-Id'],
  // The header says the same.
  resumeCall: ['after'],
}

const isSent = ({ id }: Pick<Operation, 'id'>, name: string) => NOT_SENT[id]?.includes(name) !== true

const pathOf = ({ path }: Pick<Operation, 'path'>) => path.replace(/\{(call_)?id\}/, ID)

function ignored(): void {}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
