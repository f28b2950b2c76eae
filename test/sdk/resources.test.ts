import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  TokenExpiredError,
  Trunkline,
} from '@trunkline/sdk'
import { ChatClient } from '@trunkline/sdk/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because the SDK knows a gateway by its address alone, and must understand what it sends for every resource.

let scene: GatewayWithSandbox
let admin: Trunkline

const NEXT_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()
const KEY = {
  name: 'sdk',
  description: 'a test',
  expires_at: NEXT_YEAR,
  permissions: ['chat', 'upload'],
} as const
const newKey = (name: string) => ({ ...KEY, name, permissions: [...KEY.permissions] })

beforeAll(async () => {
  scene = await startGatewayWithSandbox({
    settings: { limits: { chat: { points: 1000 }, login: { points: 1000 } } },
  })
  admin = clientOf()
  await admin.login(scene.gateway.admin)
})

afterAll(() => scene?.remove())

function clientOf(more: Partial<ConstructorParameters<typeof Trunkline>[0]> = {}): Trunkline {
  return new Trunkline({ baseURL: scene.gateway.url, ...more })
}

describe('login', () => {
  test('keeps the token, which logout ends', async () => {
    const client = clientOf()
    const { user, access_token } = await client.login(scene.gateway.admin)
    expect(await client.me()).toMatchObject({ username: user.username, role: 'admin' })
    await client.logout()
    await expect(client.me()).rejects.toMatchObject({ status: 401, reason: 'credential_missing' })
    const stale = clientOf({ accessToken: access_token })
    await expect(stale.me()).rejects.toMatchObject({ name: 'AuthenticationError', reason: 'token_revoked' })
  })

  test('with a wrong password is an AuthenticationError', async () => {
    const wrong = clientOf().login({ username: scene.gateway.admin.username, password: 'wrong' })
    await expect(wrong).rejects.toBeInstanceOf(AuthenticationError)
    await expect(wrong).rejects.toMatchObject({ reason: 'login_failed' })
  })

  test('a token that the gateway refuses is renewed by getAccessToken, once for concurrent calls', async () => {
    let renewals = 0
    const stale = clientOf()
    const { access_token } = await stale.login(scene.gateway.admin)
    await stale.logout()
    const client = clientOf({
      accessToken: access_token,
      getAccessToken: async () => {
        renewals++
        return await clientOf().login(scene.gateway.admin)
      },
    })
    expect((await client.me()).role).toBe('admin')
    await Promise.all([client.me(), client.users.list(), client.apiKeys.list()])
    expect(renewals).toBe(1)
  })
})

describe('agents', () => {
  test('are listed without a credential, with the headers of the response', async () => {
    const { data, response, requestId } = await clientOf().agents.list().withResponse()
    expect(data.items.map(({ id }) => id)).toContain('fastgpt')
    expect(response.headers.get('x-request-id')).toBe(requestId)
  })

  test('with a key that does not exist are an AuthenticationError', async () => {
    await expect(clientOf({ apiKey: 'tl_none' }).agents.list()).rejects.toBeInstanceOf(AuthenticationError)
  })
})

describe('API keys', () => {
  test('are created, read, changed, reset and revoked', async () => {
    const created = await admin.apiKeys.create(newKey('a life'))
    expect(created.full_key).toMatch(/^tl_/)
    expect(await admin.apiKeys.get(created.id)).toMatchObject({ name: 'a life', is_active: true })
    expect(await admin.apiKeys.update(created.id, { name: 'renamed' })).toMatchObject({ name: 'renamed' })
    expect(await admin.apiKeys.resetUsage(created.id, { period: 'day' })).toMatchObject({ id: created.id })
    expect(await admin.apiKeys.revoke(created.id)).toMatchObject({ is_active: false })
    const revoked = clientOf({ apiKey: created.full_key })
    await expect(revoked.apiKeys.current()).rejects.toMatchObject({ status: 401, reason: 'key_revoked' })
  })

  test('are rotated under one id, so that both secrets work until the overlap ends', async () => {
    const { id, full_key: first } = await admin.apiKeys.create(newKey('rotated'))
    const idOf = async (apiKey: string) => (await clientOf({ apiKey }).apiKeys.current()).id
    const { full_key: second, secrets } = await admin.apiKeys.rotate(id)
    expect(secrets.map(({ key_prefix }) => key_prefix)).toEqual([second.slice(0, 12), first.slice(0, 12)])
    expect(await Promise.all([first, second].map(idOf))).toEqual([id, id])
    await expect(admin.apiKeys.rotate(id)).rejects.toMatchObject({ status: 409, reason: 'rotation_pending' })
    const { full_key: third } = await admin.apiKeys.rotate(id, { overlap_seconds: 0 })
    for (const ended of [first, second])
      await expect(idOf(ended)).rejects.toMatchObject({ name: 'AuthenticationError' })
    expect(await idOf(third)).toBe(id)
  })

  test('are paused and resumed, and bound to addresses', async () => {
    const { id, full_key: apiKey } = await admin.apiKeys.create(newKey('paused'))
    const current = () => clientOf({ apiKey }).apiKeys.current()
    expect(await admin.apiKeys.update(id, { is_active: false })).toMatchObject({ state: 'paused' })
    await expect(current()).rejects.toMatchObject({ status: 403, reason: 'key_paused' })
    const elsewhere = { is_active: true, allowed_addresses: ['192.0.2.0/24'] }
    expect(await admin.apiKeys.update(id, elsewhere)).toMatchObject({ state: 'active' })
    await expect(current()).rejects.toMatchObject({ status: 403, reason: 'address_denied' })
    await admin.apiKeys.update(id, { allowed_addresses: null })
    expect(await current()).toMatchObject({ id, state: 'active' })
  })

  test('are listed over all pages, and no further than the caller reads', async () => {
    for (const number of [1, 2, 3, 4, 5]) await admin.apiKeys.create(newKey(`page ${number}`))
    const names: string[] = []
    for await (const { name } of admin.apiKeys.list({ limit: 2, state: 'active', search: 'PAGE ' })) {
      names.push(name)
    }
    expect(names).toEqual(['page 5', 'page 4', 'page 3', 'page 2', 'page 1'])
    const first = await admin.apiKeys.list({ limit: 2, search: 'page ', order_by: 'name' })
    expect(first.items.map(({ name }) => name)).toEqual(['page 1', 'page 2'])
    const { items, next_cursor } = await admin.apiKeys.list({ limit: 2 })
    expect(items).toHaveLength(2)
    expect(next_cursor).toEqual(expect.any(String))
  })

  test('what is not there or not valid is an error of its own class', async () => {
    const none = '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
    await expect(admin.apiKeys.get(none)).rejects.toBeInstanceOf(NotFoundError)
    await expect(admin.apiKeys.update(none, { name: 'x' })).rejects.toBeInstanceOf(NotFoundError)
    await expect(admin.apiKeys.revoke(none)).rejects.toBeInstanceOf(NotFoundError)
    await expect(admin.apiKeys.resetUsage(none, { period: 'day' })).rejects.toBeInstanceOf(NotFoundError)
    await expect(admin.apiKeys.list({ limit: 0 })).rejects.toBeInstanceOf(BadRequestError)
    const past = { ...newKey('past'), expires_at: '2020-01-01T00:00:00Z' }
    await expect(admin.apiKeys.create(past)).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('expires_at'),
    })
  })

  test('with both credentials, the key reads its own record and the token everything else', async () => {
    const both = clientOf({ apiKey: scene.key, accessToken: scene.token, agent: 'fastgpt' })
    expect((await both.apiKeys.current()).key_prefix).toBe(scene.key.slice(0, 12))
    // A key never creates keys, and a token never chats.
    expect((await both.apiKeys.create(newKey('by token'))).name).toBe('by token')
    expect((await both.chat.create({ app_id: 'demo', query: 'Hello' })).choices).toHaveLength(1)
    const keyOnly = clientOf({ apiKey: scene.key })
    await expect(keyOnly.apiKeys.create(newKey('by key'))).rejects.toMatchObject({
      reason: 'access_token_required',
    })
    await expect(admin.apiKeys.current()).rejects.toMatchObject({ reason: 'api_key_required' })
  })
})

describe('users', () => {
  test('are created, read, listed, changed and get passwords', async () => {
    const password = 'a long passphrase'
    const alice = await admin.users.create({ username: 'alice', password, role: 'premium' })
    expect(await admin.users.get(alice.id)).toMatchObject({ username: 'alice', role: 'premium' })
    const names: string[] = []
    for await (const { username } of admin.users.list({ limit: 1 })) names.push(username)
    expect(names).toContain('alice')
    expect(await admin.users.update(alice.id, { max_api_calls: 5 })).toMatchObject({ max_api_calls: 5 })
    await admin.users.setPassword(alice.id, { password: 'set by another' })

    const hers = clientOf()
    await hers.login({ username: 'alice', password: 'set by another' })
    await hers.users.changePassword({ current_password: 'set by another', new_password: 'chosen by herself' })
    await hers.login({ username: 'alice', password: 'chosen by herself' })
    expect(await hers.users.me()).toMatchObject({ id: alice.id })
    await expect(hers.users.list()).rejects.toBeInstanceOf(PermissionDeniedError)
    await expect(hers.users.update(alice.id, { role: 'admin' })).rejects.toMatchObject({
      status: 403,
      reason: 'role_denied',
    })
  })

  test('a username that is taken is a ConflictError', async () => {
    await admin.users.create({ username: 'bob', password: 'a long passphrase' })
    const again = admin.users.create({ username: 'BOB', password: 'a long passphrase' })
    await expect(again).rejects.toBeInstanceOf(ConflictError)
  })

  test('are refused for unknown ids, short passwords and a wrong current password', async () => {
    const none = '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
    await expect(admin.users.get(none)).rejects.toBeInstanceOf(NotFoundError)
    await expect(admin.users.setPassword(none, { password: 'short' })).rejects.toBeInstanceOf(BadRequestError)
    const wrong = { current_password: 'not this one', new_password: 'a long passphrase' }
    await expect(admin.users.changePassword(wrong)).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('current_password'),
    })
    expect((await admin.me()).role).toBe('admin')
  })
})

describe('chat', () => {
  test('is a JSON reply, with end user and variables, of the agent of the call or of the client', async () => {
    const client = clientOf({ apiKey: scene.key, agent: 'fastgpt' })
    const { data, response } = await client.chat
      .create({
        app_id: 'demo',
        chat_id: 'sdk-1',
        query: 'Hello',
        user: 'end-user',
        variables: { city: 'Bern' },
      })
      .withResponse()
    expect(data).toMatchObject({
      id: 'sdk-1',
      choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }],
    })
    expect(response.headers.get('x-conversation-id')).toBe('sdk-1')
    const reply = await client.chat.create({ agent: 'openai', query: 'Hello' }, { maxRetries: 0 })
    expect(reply.choices[0]?.message.content).not.toBe('')
  })

  test('works with the client of the sub-path as well', async () => {
    const { chat } = new ChatClient({
      baseURL: `${scene.gateway.url}/api/v1/`,
      apiKey: scene.key,
      agent: 'openai',
    })
    expect((await chat.create({ query: 'Hello' })).choices).toHaveLength(1)
  })

  test('that is refused keeps its reason and names the request', async () => {
    const client = clientOf({ apiKey: scene.key })
    const headers = { 'x-request-id': 'sdk-request-1' }
    const unknown = client.chat.create({ agent: 'none', query: 'Hello' }, { headers })
    await expect(unknown).rejects.toMatchObject({ reason: 'unknown_agent', requestId: 'sdk-request-1' })
    await expect(client.chat.create({ agent: 'fastgpt', query: 'Hello' })).rejects.toMatchObject({
      reason: 'app_id_required',
    })
    const nobody = clientOf({ apiKey: `tl_${'x'.repeat(49)}` })
    await expect(nobody.chat.create({ agent: 'openai', query: 'Hello' })).rejects.toBeInstanceOf(
      AuthenticationError,
    )
  })

  test('over a used-up quota is a RateLimitError that is not repeated', async () => {
    const password = 'a long passphrase'
    const carol = await admin.users.create({ username: 'carol', password, max_api_calls: 0 })
    const { full_key } = await admin.apiKeys.create({ ...newKey('carol'), owner_id: carol.id })
    const requests: string[] = []
    const counting: typeof fetch = (input, init) => {
      requests.push(String(input))
      return fetch(input, init)
    }
    const call = clientOf({ apiKey: full_key, fetch: counting }).chat.create({
      agent: 'openai',
      query: 'Hello',
    })
    await expect(call).rejects.toBeInstanceOf(RateLimitError)
    await expect(call).rejects.toMatchObject({ reason: 'quota_exceeded' })
    expect(requests).toHaveLength(1)
  })
})

describe('usage', () => {
  test('is a report, and the ledger in pages', async () => {
    const report = await admin.usage.query({
      granularity: 'hour',
      group_by: ['agent', 'outcome'],
      timezone: 'UTC',
    })
    expect(report).toMatchObject({ granularity: 'hour', group_by: ['agent', 'outcome'] })
    const client = clientOf({ apiKey: scene.key, agent: 'openai' })
    for (const query of ['one', 'two', 'three']) await client.chat.create({ query })
    const calls: string[] = []
    for await (const { agent } of admin.calls.list({ limit: 2, agent: 'openai' })) calls.push(agent)
    expect(calls.length).toBeGreaterThanOrEqual(3)
  })

  test('is downloaded as CSV, the ledger without pages', async () => {
    const report = await admin.usage.csv({ group_by: 'agent', timezone: 'UTC' })
    expect(report.headers.get('content-type')).toMatch(/^text\/csv/)
    expect(await report.text()).toMatch(/^[^\r]*\bagent\b[^\r]*\r\n[^\r]*\bopenai\b/)
    const ids: string[] = []
    for await (const { id } of admin.calls.list({ limit: 3 })) ids.push(id)
    const ledger = await (await admin.calls.csv()).text()
    expect(ids.length).toBeGreaterThan(3)
    expect(ledger.match(/^[0-9a-f-]{36}(?=,)/gm)).toEqual(ids)
  })

  test('in an unknown time zone is a BadRequestError', async () => {
    await expect(admin.usage.query({ timezone: 'Nowhere' })).rejects.toBeInstanceOf(BadRequestError)
    await expect(admin.calls.list({ limit: 1000 })).rejects.toBeInstanceOf(BadRequestError)
    await expect(admin.usage.csv({ timezone: 'Nowhere' })).rejects.toBeInstanceOf(BadRequestError)
    await expect(admin.calls.csv({ from: 'yesterday' })).rejects.toBeInstanceOf(BadRequestError)
  })
})

test('an expired token without getAccessToken is an error of its own', async () => {
  const client = clientOf()
  client.transport.credentials.keep({ access_token: scene.token, expires_in: 0 })
  await expect(client.me()).rejects.toBeInstanceOf(TokenExpiredError)
})
