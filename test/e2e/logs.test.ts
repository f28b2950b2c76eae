import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because everything that it prints from its start to its stop is searched for secrets.

const QUERY = 'zebra crossing at midnight'
const REPLY = 'giraffe in the rain'
const SECRET = 'hunter2-hunter2'

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startGatewayWithSandbox({ entry: { timeouts: { firstByteMs: 300 } } })
})
afterAll(() => system.remove())

test('each request is logged once, and no key, token, password or text of a chat is logged', async () => {
  const { api, gateway, sandbox, key, token } = system
  const ask = async (agent: string, more: Record<string, unknown>, headers = {}) =>
    (
      await api.chat(
        key,
        agent,
        { user: `${SECRET}-user`, variables: { note: SECRET }, ...more },
        { headers },
      )
    ).text()

  const secrets: string[] = [key, token, gateway.admin.password, QUERY, REPLY, SECRET]
  for (const agent of Object.values(sandbox.agents)) secrets.push(agent.apiKey)

  for (const stream of [true, false]) {
    for (const agent of ['fastgpt', 'openai']) {
      expect(await ask(agent, { stream, query: `${QUERY} sandbox:echo ${REPLY}` })).toContain('giraffe')
      await ask(agent, { stream, query: `${QUERY} sandbox:error-midstream` })
      await ask(agent, { stream, query: `${QUERY} sandbox:error=credentials` })
      await ask(agent, { stream, query: `${QUERY} sandbox:html` })
      await ask(agent, { stream, query: `${QUERY} sandbox:malformed` })
      await ask(agent, { stream, query: `${QUERY} sandbox:hang` })
    }
  }
  // Requests that are rejected at each stage of processing.
  await ask(SECRET, { query: QUERY })
  await ask('openai', { query: 7, files: [SECRET] })
  await ask('openai', { query: QUERY }, { 'content-type': 'text/plain' })
  await ask('openai', { query: QUERY }, { authorization: `Bearer ${SECRET}` })
  await ask('openai', { query: QUERY }, { authorization: `Bearer ${token}` })
  await api.call('POST', '/api/v1/chat', {
    token: key,
    headers: { agent: 'openai' },
    body: `{"query":"${QUERY}"`,
  })
  await api.call('POST', '/api/v1/login', { body: { username: 'admin', password: SECRET } })
  await api.call('GET', `/api/v1/${SECRET}?token=${SECRET}`)
  await api.call('GET', `/api/v1/agents?key=${SECRET}`, { token: key, headers: { 'x-request-id': 'mine-1' } })
  const user = await api.createUser(token, 'ann', { role: 'premium' })
  const made = await api.createKey(token, { name: `${SECRET} key`, description: SECRET, owner_id: user.id })
  secrets.push(user.password, made.full_key, await api.login('ann', user.password))

  expect(await gateway.stop()).toBe(0)
  const { output } = gateway
  for (const secret of secrets) expect(output).not.toContain(secret)

  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const requests = lines.filter(({ msg }) => msg === 'request')
  expect(new Set(requests.map(({ reqId }) => reqId)).size).toBe(requests.length)
  // The login and key creation of the setup, 24 chats, of which 5 are malformed, and the 7 other requests.
  expect(requests).toHaveLength(2 + 24 + 5 + 7)
  expect(requests.find(({ reqId }) => reqId === 'mine-1')).toMatchObject({
    level: 'info',
    method: 'GET',
    route: '/api/v1/agents',
    status: 400,
    address: '127.0.0.1',
    ms: expect.any(Number),
  })
  expect(requests.find(({ reason }) => reason === 'login_failed')).toMatchObject({ status: 401 })
  expect(requests.find(({ reason }) => reason === 'route_not_found')).toMatchObject({ route: 'unknown' })
  const failed = lines.find(({ msg, reason }) => msg === 'call failed' && reason === 'agent_credentials')
  expect(failed).toMatchObject({ level: 'warn', outcome: 'upstream_error', call: expect.any(String) })
  expect(requests.some(({ call }) => call === failed.call)).toBe(true)
})
