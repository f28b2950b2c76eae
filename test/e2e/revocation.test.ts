import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { inOneYear } from '../support/api.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because the command line revokes a key beside a gateway that runs, and the next call must know.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system.remove())

const newKey = (more: Record<string, unknown> = {}) => system.api.createKey(system.token, more)

/** Returns status and reason of a chat call with this key. */
async function ask(key: string, agent = 'openai', more: Record<string, unknown> = {}): Promise<string> {
  const response = await system.api.chat(key, agent, more)
  const { reason = 'answered' } = (await response.json()) as { reason?: string }
  return `${response.status} ${reason}`
}

test('a revoked key is rejected at its next call, whatever it calls', async () => {
  const { id, full_key: key } = await newKey()
  expect(await ask(key)).toBe('200 answered')
  expect(
    (await system.api.call('POST', `/api/v1/api-keys/${id}/revoke`, { token: system.token })).status,
  ).toBe(200)
  expect(await ask(key)).toBe('401 key_revoked')
  expect(await system.api.call('GET', '/api/v1/agents', { token: key })).toMatchObject({ status: 401 })
})

test('a key that is revoked by the command line is rejected at its next call as well', async () => {
  const { id, full_key: key } = await newKey()
  expect(await ask(key)).toBe('200 answered')
  expect((await system.gateway.trunkline('keys', 'revoke', id)).code).toBe(0)
  expect(await ask(key)).toBe('401 key_revoked')
})

test('an expired key is rejected, and its record shows the status', async () => {
  const { id, full_key: key } = await newKey({ expires_at: new Date(Date.now() + 1_500).toISOString() })
  await vi.waitFor(async () => expect(await ask(key)).toBe('401 key_expired'), { timeout: 10_000 })
  const { body } = await system.api.call('GET', `/api/v1/api-keys/${id}`, { token: system.token })
  expect(body.data).toMatchObject({ is_active: false, revoked_at: null })
})

test("a suspended user's keys, tokens and logins are refused until the user is active again", async () => {
  const { id, username, password } = await system.api.createUser(system.token, 'ann', { role: 'premium' })
  const { full_key: key } = await newKey({ owner_id: id })
  const token = await system.api.login(username, password)
  const become = (status: string) =>
    system.api.call('PATCH', `/api/v1/users/${id}`, { token: system.token, body: { status } })

  expect((await become('suspended')).status).toBe(200)
  expect(await ask(key)).toBe('401 owner_suspended')
  expect((await system.api.call('GET', '/api/v1/users/me', { token })).status).toBe(401)
  await expect(system.api.login(username, password)).rejects.toThrow('login_failed')

  expect((await become('active')).status).toBe(200)
  expect(await ask(key)).toBe('200 answered')
  expect(await system.api.login(username, password)).toBeTruthy()
})

test('a key can use and list only the agents that it is allowed', async () => {
  const { full_key: key } = await newKey({ allowed_agents: ['openai', 'fastgpt/app-1'] })
  expect(await ask(key)).toBe('200 answered')
  expect(await ask(key, 'fastgpt', { app_id: 'app-1' })).toBe('200 answered')
  expect(await ask(key, 'fastgpt', { app_id: 'app-2' })).toBe('403 agent_denied')
  expect(await ask(key, 'dify')).toBe('403 agent_denied')
  const { body } = await system.api.call('GET', '/api/v1/agents', { token: key })
  expect(body.data.items.map((agent: { id: string }) => agent.id)).toEqual(['fastgpt', 'openai'])
})

test('chat requires the permission chat, which admin includes', async () => {
  const keyWith = async (...permissions: string[]) => (await newKey({ permissions })).full_key
  expect(await ask(await keyWith('upload'))).toBe('403 permission_denied')
  expect(await ask(await keyWith('upload', 'chat'))).toBe('200 answered')
  expect(await ask(await keyWith('admin'))).toBe('200 answered')
})

test('a credential that is malformed, unknown or of the wrong kind is rejected', async () => {
  expect(await ask(system.token)).toBe('401 api_key_required')
  expect(await ask('tl_nonsense')).toBe('401 credential_malformed')
  const swapped = system.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  expect(await ask(swapped)).toBe('401 credential_malformed')
  const { full_key: admin } = await newKey({ permissions: ['admin'] })
  const { status, body } = await system.api.call('POST', '/api/v1/api-keys', {
    token: admin,
    body: { name: 'n', description: 'd', expires_at: inOneYear(), permissions: ['chat'] },
  })
  expect([status, body.reason]).toEqual([401, 'access_token_required'])
})
