import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallerName, PASSWORD } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

const soon = () => new Date(Date.now() + 3_600_000).toISOString()
const NEW_KEY = { name: 'a key', description: 'for a test', permissions: ['CHAT'] }

async function run(as: CallerName, document: string, variables?: object): Promise<Any> {
  const { data, errors } = await face.query(as, document, variables)
  expect(errors).toBeUndefined()
  return data
}

describe('API keys', () => {
  const CREATE = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
    fullKey
    apiKey { id name description keyPrefix permissions isActive expiresAt allowedAgents ownerId owner { username }
      createdBy { username } limits { chatPerMinute uploadPerMinute } usage { totalCalls callsToday } uploads { totalCount } } } }`

  test('a key is created, read, changed, reset and revoked, and REST shows the same record', async () => {
    const input = {
      ...NEW_KEY,
      expiresAt: soon(),
      allowedAgents: ['answering'],
      limits: { chatPerMinute: 5 },
    }
    const { createApiKey } = await run('premium', CREATE, { input })
    const { fullKey, apiKey } = createApiKey
    expect(fullKey).toMatch(/^tl_/)
    expect(apiKey).toEqual({
      ...input,
      id: expect.any(String),
      keyPrefix: fullKey.slice(0, 12),
      isActive: true,
      ownerId: face.callers.premium.ownerId,
      owner: { username: 'premium' },
      createdBy: { username: 'premium' },
      limits: { chatPerMinute: 5, uploadPerMinute: null },
      usage: { totalCalls: 0, callsToday: 0 },
      uploads: { totalCount: 0 },
    })
    const record = (await face.get('premium', `/api/v1/api-keys/${apiKey.id}`)).json().data
    expect(record).toMatchObject({
      id: apiKey.id,
      expires_at: apiKey.expiresAt,
      key_prefix: apiKey.keyPrefix,
    })

    const changed = await run(
      'premium',
      `mutation ($keyId: ID!) {
        updateApiKey(input: { keyId: $keyId, name: "renamed", description: null, limits: null, allowedAgents: null }) {
          apiKey { name description allowedAgents limits { chatPerMinute } } }
        resetApiKeyUsage(input: { keyId: $keyId, period: MONTH }) { apiKey { usage { callsThisMonth } } }
        revokeApiKey(input: { keyId: $keyId }) { apiKey { isActive revokedAt } }
        again: revokeApiKey(input: { keyId: $keyId }) { apiKey { revokedAt } } }`,
      { keyId: apiKey.id },
    )
    expect(changed).toEqual({
      updateApiKey: {
        apiKey: {
          name: 'renamed',
          description: 'for a test',
          allowedAgents: null,
          limits: { chatPerMinute: null },
        },
      },
      resetApiKeyUsage: { apiKey: { usage: { callsThisMonth: 0 } } },
      revokeApiKey: { apiKey: { isActive: false, revokedAt: expect.any(String) } },
      again: { apiKey: { revokedAt: changed.revokeApiKey.apiKey.revokedAt } },
    })
  })

  test('a key is rotated, paused and bound to addresses, and wrong inputs are refused twice', async () => {
    const keyId = await face.newKey(face.callers.premium.ownerId)
    const document = `mutation ($keyId: ID!, $overlapSeconds: Int, $isActive: Boolean, $allowedAddresses: [String!]) {
      rotateApiKey(input: { keyId: $keyId, overlapSeconds: $overlapSeconds }) { fullKey apiKey { id secrets { keyPrefix endsAt } } }
      updateApiKey(input: { keyId: $keyId, isActive: $isActive, allowedAddresses: $allowedAddresses }) {
        apiKey { state isActive allowedAddresses } } }`
    const right = { keyId, overlapSeconds: 60, isActive: false, allowedAddresses: ['192.0.2.9/24'] }
    const { rotateApiKey, updateApiKey } = await run('premium', document, right)
    const [present, before] = rotateApiKey.apiKey.secrets
    expect(present).toEqual({ keyPrefix: rotateApiKey.fullKey.slice(0, 12), endsAt: null })
    expect([rotateApiKey.apiKey.id, before.endsAt]).toEqual([keyId, expect.any(String)])
    expect(updateApiKey.apiKey).toEqual({
      state: 'PAUSED',
      isActive: false,
      allowedAddresses: ['192.0.2.0/24'],
    })
    for (const wrong of [{ overlapSeconds: -1 }, { allowedAddresses: ['192.0.2.0/33'] }, { keyId: v7() }]) {
      const [first, second] = [
        await face.query('premium', document, { ...right, ...wrong }),
        await face.query('premium', document, { ...right, ...wrong }),
      ]
      expect(first.errors?.length).toBeGreaterThan(0)
      expect(second.errors?.map(({ message }: Any) => message)).toEqual(
        first.errors?.map(({ message }: Any) => message),
      )
    }
    const filters = '{ apiKeys(unusedFor: "1d", expiresWithin: "30d") { nodes { id } } }'
    expect((await run('premium', filters)).apiKeys.nodes).toEqual([])
    for (const _try of [1, 2])
      expect((await face.query('premium', filters.replace('"1d"', '"a day"'))).errors).toHaveLength(1)
  })

  test('a key is restricted to its own record, whose owner it does not see', async () => {
    const { currentApiKey } = await run(
      'chat key',
      '{ currentApiKey { apiKey { name ownerId owner { id } } rateLimits { chatPerMinute } quota { maxApiCalls } } }',
    )
    expect(currentApiKey).toEqual({
      apiKey: { name: 'a key', ownerId: face.callers.premium.ownerId, owner: null },
      rateLimits: { chatPerMinute: 60 },
      quota: { maxApiCalls: 1_000_000 },
    })
  })
})

describe('input is refused by the rules of REST, in its words', () => {
  const key = { ...NEW_KEY, permissions: ['chat'], expires_at: soon() }
  const user = { username: `u-${v7()}`, password: PASSWORD }
  test.each<[string, string, object]>([
    ['createApiKey', '/api/v1/api-keys', { ...key, name: ' ' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, description: 'a\u0000b' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, expires_at: '2027-02-30T00:00:00Z' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, expires_at: '2020-01-01T00:00:00Z' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, expires_at: '9999-01-01T00:00:00Z' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, allowed_agents: ['answering', 'nobody'] }],
    ['createApiKey', '/api/v1/api-keys', { ...key, limits: { chat_per_minute: 601 } }],
    ['createApiKey', '/api/v1/api-keys', { ...key, owner_id: v7() }],
    ['createApiKey', '/api/v1/api-keys', { ...key, name: '' }],
    ['createApiKey', '/api/v1/api-keys', { ...key, name: 'x'.repeat(101) }],
    ['createApiKey', '/api/v1/api-keys', { ...key, description: 'x'.repeat(501) }],
    ['createApiKey', '/api/v1/api-keys', { ...key, permissions: [] }],
    ['createApiKey', '/api/v1/api-keys', { ...key, permissions: ['chat', 'chat'] }],
    ['createApiKey', '/api/v1/api-keys', { ...key, allowed_agents: Array(51).fill('answering') }],
    ['createApiKey', '/api/v1/api-keys', { ...key, owner_id: 'nobody' }],
    ['createUser', '/api/v1/users', { ...user, username: 'a b' }],
    ['createUser', '/api/v1/users', { ...user, password: 'short' }],
    ['createUser', '/api/v1/users', { ...user, password: 'x'.repeat(257) }],
    ['createUser', '/api/v1/users', { ...user, max_api_calls: -1 }],
  ])('%s as %s: %o', async (mutation, url, body) => {
    const { credential } = face.callers.admin
    const headers = { authorization: `Bearer ${credential}` }
    const response = await face.app.inject({ method: 'POST', url, headers, payload: body })
    const { detail, code, reason } = response.json()
    expect(code).toBe(400)

    const type = mutation === 'createUser' ? 'CreateUserInput' : 'CreateApiKeyInput'
    const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`
    const { data, errors } = await face.query('admin', document, { input: inCamelCase(body) })
    const [, field = '', text] = /^body\.([^:]+): (.*)$/.exec(detail) ?? []
    const place = `input.${field.replace(/_([a-z])/g, (_match, letter) => letter.toUpperCase())}`
    expect(data).toEqual({ [mutation]: null })
    expect(errors).toMatchObject([
      { message: `${place}: ${text}`, extensions: { code: reason, status: code, field: place } },
    ])
  })
})

describe('every mutation names the field of its input that a service refuses', () => {
  test.each<[CallerName, string, string, object, string]>([
    ['admin', 'updateUser', 'UpdateUserInput', { userId: v7(), maxApiCalls: -1 }, 'input.maxApiCalls'],
    ['admin', 'setPassword', 'SetPasswordInput', { userId: v7(), password: 'short' }, 'input.password'],
    [
      'premium',
      'changeMyPassword',
      'ChangeMyPasswordInput',
      { currentPassword: PASSWORD, newPassword: 'short' },
      'input.newPassword',
    ],
    ['premium', 'updateApiKey', 'UpdateApiKeyInput', { keyId: v7(), name: '' }, 'input.name'],
    ['chat key', 'chat', 'ChatInput', { agentId: 'answering', query: ' ' }, 'input.query'],
    ['chat key', 'chat', 'ChatInput', { agentId: 'nobody', query: 'a' }, 'input.agentId'],
    [
      'chat key',
      'chat',
      'ChatInput',
      { agentId: 'answering', query: 'a', files: ['https://example.com/a', 'ftp://example.com/b'] },
      'input.files[1]',
    ],
    [
      'chat key',
      'chat',
      'ChatInput',
      { agentId: 'answering', query: 'a', conversationId: 'a\u0000' },
      'input.conversationId',
    ],
  ])('%s: %s of %s %o', async (caller, mutation, type, input, field) => {
    const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`
    const { data, errors } = await face.query(caller, document, { input })
    expect(data).toEqual({ [mutation]: null })
    expect(errors).toMatchObject([
      { message: expect.stringContaining(`${field}: `), extensions: { status: 400, field } },
    ])
  })
})

describe('users', () => {
  test('an administrator creates, changes and lists users; large quotas are exact', async () => {
    const username = `u-${v7()}`
    const {
      createUser: { user },
    } = await run(
      'admin',
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username role status maxApiCalls quotaPeriod lastLogin } } }',
      {
        input: {
          username,
          password: PASSWORD,
          role: 'PREMIUM',
          maxApiCalls: 3_000_000_000,
          quotaPeriod: 'DAY',
        },
      },
    )
    expect(user).toEqual({
      id: expect.any(String),
      username,
      role: 'PREMIUM',
      status: 'ACTIVE',
      maxApiCalls: 3_000_000_000,
      quotaPeriod: 'DAY',
      lastLogin: null,
    })
    const { updateUser, users } = await run(
      'admin',
      `mutation ($userId: ID!) { updateUser(input: { userId: $userId, status: SUSPENDED, role: null }) {
        user { status role quota { remaining resetsAt } apiKeys { totalCount } } } }`,
      { userId: user.id },
    )
    expect(users).toBeUndefined()
    expect(updateUser.user).toEqual({
      status: 'SUSPENDED',
      role: 'PREMIUM',
      apiKeys: { totalCount: 0 },
      quota: { remaining: 3_000_000_000, resetsAt: expect.any(String) },
    })
  })

  test('a login shows its user without another credential, and no other user', async () => {
    const { data, errors } = await face.query(
      'anonymous',
      `mutation { login(input: { username: "Neighbour", password: "${PASSWORD}" }) {
        accessToken tokenType expiresIn user { username quota { remaining } apiKeys { totalCount } } } }`,
    )
    expect(data.login).toMatchObject({
      accessToken: expect.any(String),
      tokenType: 'bearer',
      expiresIn: 3600,
      user: { username: 'neighbour', quota: { remaining: 1_000_000 }, apiKeys: null },
    })
    expect(errors).toMatchObject([{ extensions: { code: 'credential_missing', status: 401 } }])
  })
})

describe('pages', () => {
  const PAGE = `query ($first: Int, $after: String, $last: Int, $before: String) {
    apiKeys(first: $first, after: $after, last: $last, before: $before) {
      totalCount nodes { id } edges { cursor node { id } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

  test('go forwards and backwards over the same keys, and count all of them', async () => {
    for (let count = 0; count < 3; count += 1) await face.newKey(face.callers.premium.ownerId)
    const all = (await run('premium', PAGE, { first: 100 })).apiKeys
    expect(all.totalCount).toBe(all.nodes.length)
    const first = (await run('premium', PAGE, { first: 2 })).apiKeys
    expect(first).toMatchObject({ nodes: all.nodes.slice(0, 2), pageInfo: { hasNextPage: true } })
    const second = (await run('premium', PAGE, { first: 2, after: first.pageInfo.endCursor })).apiKeys
    expect(second.nodes).toEqual(all.nodes.slice(2, 4))
    const back = (await run('premium', PAGE, { last: 2, before: second.pageInfo.startCursor })).apiKeys
    expect(back.nodes).toEqual(first.nodes)
    expect(back.edges.map(({ node }: Any) => node)).toEqual(back.nodes)
  })

  test('are those of REST in every order, and a search counts what it finds', async () => {
    for (const name of ['page b', 'page a', 'Page c']) await face.newKey(face.callers.premium.ownerId, name)
    const FOUND = `query ($search: String, $orderBy: ApiKeyOrder, $order: OrderDirection, $first: Int, $after: String,
      $last: Int, $before: String) {
      apiKeys(search: $search, state: ACTIVE, orderBy: $orderBy, order: $order, first: $first, after: $after,
        last: $last, before: $before) {
        totalCount nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
    const found = { search: 'PAGE ', orderBy: 'NAME' }
    const first = (await run('premium', FOUND, { ...found, first: 2 })).apiKeys
    expect(first).toMatchObject({
      totalCount: 3,
      nodes: [{ name: 'page a' }, { name: 'page b' }],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    })
    const rest = (await run('premium', FOUND, { ...found, first: 2, after: first.pageInfo.endCursor }))
      .apiKeys
    expect(rest).toMatchObject({ nodes: [{ name: 'Page c' }], pageInfo: { hasNextPage: false } })
    const back = { ...found, last: 1, before: rest.pageInfo.startCursor }
    expect((await run('premium', FOUND, back)).apiKeys).toMatchObject({
      nodes: [{ name: 'page b' }],
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    })
    const { me } = await run(
      'premium',
      '{ me { apiKeys(search: "page ", orderBy: NAME, order: DESC) { nodes { name } } } }',
    )
    expect(me.apiKeys.nodes.map(({ name }: Any) => name)).toEqual(['Page c', 'page b', 'page a'])
    const { users } = await run(
      'admin',
      '{ users(search: "PREMIUM", state: ACTIVE, orderBy: USERNAME) { totalCount nodes { username } } }',
    )
    expect(users.nodes.map(({ username }: Any) => username)).toContain('premium')
    expect(users.totalCount).toBe(users.nodes.length)
    const { errors } = await face.query('premium', FOUND, { ...found, after: 'x' })
    expect(errors).toMatchObject([{ extensions: { code: 'invalid_request', field: 'after' } }])
    const long = await face.query('premium', FOUND, { search: 'x'.repeat(101) })
    expect(long.errors).toMatchObject([{ extensions: { code: 'invalid_request', field: 'search' } }])
  })

  test.each([
    [{ first: 0 }, 'first: expected an integer of 1 to 100.'],
    [{ first: 101 }, 'first: expected an integer of 1 to 100.'],
    [{ first: 3, last: 1 }, 'last: expected it to be left out where first is given.'],
    [{ last: -1 }, 'last: expected an integer of 1 to 100.'],
    [{ after: 'x' }, 'after: expected the cursor of a previous page.'],
    [
      { before: Buffer.from('GPC:S:x').toString('base64') },
      'before: expected the cursor of a previous page.',
    ],
  ])('%o is refused', async (variables, message) => {
    const { data, errors } = await face.query('premium', PAGE, variables)
    expect(data).toEqual({ apiKeys: null })
    expect(errors).toMatchObject([{ message, extensions: { code: 'invalid_request', status: 400 } }])
  })
})

describe('node and nodes', () => {
  test('find objects of every kind by their ids, in the order of the ids', async () => {
    const { userId = '' } = face.callers.premium.principal ?? {}
    const [keyId, uploadId] = [await face.newKey(userId), await face.newUpload(userId)]
    const ids = [uploadId, 'no id', face.callId, userId, keyId, v7()]
    const { nodes, node } = await run(
      'premium',
      `query ($ids: [ID!]!, $id: ID!) { nodes(ids: $ids) { __typename id }
        node(id: $id) { ... on ApiKey { name owner { username } } ... on User { username } } }`,
      { ids, id: keyId },
    )
    expect(nodes.map((found: Any) => found?.__typename ?? null)).toEqual([
      ...['Upload', null, 'Call', 'User'],
      ...['ApiKey', null],
    ])
    expect(nodes.map((found: Any) => found?.id ?? null)).toEqual(
      ids.map((id, index) => (nodes[index] === null ? null : id)),
    )
    expect(node).toEqual({ name: 'a key', owner: { username: 'premium' } })
  })

  test("a neighbour's id reads as one that does not exist, everywhere", async () => {
    const { userId = '' } = face.callers.premium.principal ?? {}
    const [keyId, uploadId] = [await face.newKey(userId), await face.newUpload(userId)]
    const document = `query ($key: ID!, $upload: ID!, $call: ID!, $ids: [ID!]!) {
      apiKey(id: $key) { id } upload(id: $upload) { id } call(id: $call) { id }
      node(id: $key) { id } nodes(ids: $ids) { id } me { username } }`
    const variables = { key: keyId, upload: uploadId, call: face.callId, ids: [keyId, uploadId, userId] }
    const unknown = { key: v7(), upload: v7(), call: v7(), ids: [v7(), v7(), v7()] }
    const ask = async (given: object) => {
      const { data, errors } = await face.query('neighbour', document, given)
      return {
        data,
        errors: errors?.map((error: Any) => ({
          ...error,
          extensions: { ...error.extensions, requestId: '' },
        })),
      }
    }
    const theirs = await ask(variables)
    expect(theirs).toEqual(await ask(unknown))
    // What is refused keeps what is not.
    expect(theirs.data).toEqual({
      apiKey: null,
      upload: null,
      call: null,
      node: null,
      nodes: [null, null, null],
      me: { username: 'neighbour' },
    })
    expect(theirs.errors?.map(({ extensions }) => [extensions.code, extensions.status]).sort()).toEqual([
      ...[['call_not_found', 404]],
      ...[['key_not_found', 404]],
      ...[['object_not_found', 404]],
      ...[['upload_not_found', 404]],
    ])
  })
})

describe('statements', () => {
  const KEYS = (first: number) =>
    `{ me { username apiKeys(first: ${first}) { totalCount nodes { name isActive owner { username } createdBy { username } } } } }`

  test('me with its keys and their owners takes as many for 50 keys as for one', async () => {
    for (let count = 0; count < 50; count += 1)
      await face.newKey(face.callers.neighbour.principal?.userId ?? '')
    const page = (first: number) => async () => {
      const { me } = await run('neighbour', KEYS(first))
      expect(me.apiKeys).toMatchObject({ totalCount: 50, nodes: { length: first } })
    }
    // The credential (2), the user, the keys, their owners, their creators, and the count.
    expect(await face.statementsOf(page(1))).toBe(7)
    expect(await face.statementsOf(page(50))).toBe(7)
  })

  test('what a query does not select is not read, and nothing is counted unless it is selected', async () => {
    const [keys, ...others] = (
      await face.statements(() => run('premium', '{ apiKeys(first: 2) { nodes { name } } }'))
    ).filter((text) => text.includes('"api_keys"'))
    expect(others).toEqual([])
    expect(keys).toContain('"name"')
    expect(keys).not.toMatch(/"hash"|"description"|"total_calls"|count/i)
    const counted = await face.statements(() => run('premium', '{ apiKeys { totalCount } }'))
    expect(counted.filter((text) => text.includes('"api_keys"'))).toEqual([expect.stringMatching(/count/i)])
  })
})

function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/_([a-z])/g, (_match, letter) => letter.toUpperCase()),
      // The enums of GraphQL are upper case.
      name === 'permissions' ? (inner as string[]).map((word) => word.toUpperCase()) : inCamelCase(inner),
    ]),
  )
}
