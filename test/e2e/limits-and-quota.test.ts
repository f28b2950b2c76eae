import { randomBytes } from 'node:crypto'
import { makeApiKey } from '@trunkline/gateway/src/core/accounts/keys/key-format.ts'
import { Agent, fetch as fetchFrom } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because addresses and proxies are those of connections, and the defaults are those of a started gateway.

let system: GatewayWithSandbox
/** Another address of this machine, which the gateway trusts as its proxy. */
const proxy = new Agent({ localAddress: '127.0.0.2' })

beforeAll(async () => {
  system = await startGatewayWithSandbox({ settings: { limits: {}, trustedProxies: ['127.0.0.2'] } })
})
afterAll(async () => {
  await proxy.close()
  await system.remove()
})

const newKey = (more: Record<string, unknown> = {}) => system.api.createKey(system.token, more)
const chat = (key: string, more: Record<string, unknown> = {}) => system.api.chat(key, 'openai', more)

/** Sends a request with a key on behalf of an address, either through the proxy or directly. */
async function askFor(address: string, key: string, through = proxy) {
  const response = await fetchFrom(`${system.gateway.url}/api/v1/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      agent: 'openai',
      'content-type': 'application/json',
      'x-forwarded-for': address,
    },
    body: JSON.stringify(chatBody()),
    dispatcher: through,
  })
  const { reason } = (await response.json()) as { reason?: string }
  return { status: response.status, reason, headers: response.headers }
}

test('a key has 60 chat calls per minute, streamed or not, and headers report what remains', async () => {
  const { id, full_key: key } = await newKey()
  for (let call = 1; call <= 60; call += 1) {
    const response = await chat(key, { stream: call % 2 === 0 })
    await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('ratelimit-policy')).toBe('"chat";q=60;w=60')
    expect(response.headers.get('ratelimit')).toMatch(new RegExp(`^"chat";r=${60 - call};t=\\d+$`))
  }
  const refused = await chat(key)
  expect([refused.status, await refused.json()]).toMatchObject([429, { reason: 'rate_limited' }])
  expect(refused.headers.get('ratelimit')).toMatch(/^"chat";r=0;t=\d+$/)
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  // Common clients only wait for less than 60 s.
  expect(wait).toBeLessThanOrEqual(59)

  const { body } = await system.api.call('GET', `/api/v1/api-keys/${id}`, { token: system.token })
  expect(body.data.usage.total_calls).toBe(60)
  expect((await chat(system.key)).status).toBe(200)
})

test('a key can have a lower limit', async () => {
  const { full_key: key } = await newKey({ limits: { chat_per_minute: 2 } })
  const statuses = await Promise.all([1, 2, 3].map(async () => (await chat(key)).status))
  expect(statuses.sort()).toEqual([200, 200, 429])
  expect((await chat(key)).headers.get('ratelimit-policy')).toBe('"chat";q=2;w=60')
})

test('an invalid request does not count against the limit', async () => {
  const { full_key: key } = await newKey({ limits: { chat_per_minute: 1 } })
  for (const wrong of [{ query: ' ' }, { stream: 'yes' }, { files: ['http://localhost/'] }]) {
    expect((await chat(key, wrong)).status).toBe(400)
  }
  expect((await chat(key)).status).toBe(200)
  expect((await chat(key)).status).toBe(429)
})

test('of concurrent calls exactly as many are admitted as the quota leaves', async () => {
  const user = await system.api.createUser(system.token, 'limited', { role: 'premium', max_api_calls: 7 })
  const keys = await Promise.all([newKey({ owner_id: user.id }), newKey({ owner_id: user.id })])
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const response = await chat(keys[index % 2]?.full_key ?? '')
      return {
        status: response.status,
        body: (await response.json()) as { reason?: string; detail?: string },
      }
    }),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
  for (const { body } of answers.filter(({ status }) => status !== 200)) {
    expect(body).toMatchObject({
      code: 429,
      reason: 'quota_exceeded',
      detail: 'max_api_calls of 7 is reached; an administrator can raise it.',
    })
  }
  const { body } = await system.api.call('GET', `/api/v1/users/${user.id}`, { token: system.token })
  expect(body.data).toMatchObject({ api_calls_count: 7, max_api_calls: 7 })
})

test('an address with 60 refused keys in a minute has to wait, but valid keys from there still pass', async () => {
  for (let refusal = 1; refusal <= 60; refusal += 1) {
    expect(await askFor('203.0.113.1', unknownKey())).toMatchObject({ status: 401, reason: 'key_unknown' })
  }
  const refused = await askFor('203.0.113.1', unknownKey())
  expect(refused).toMatchObject({ status: 429, reason: 'rate_limited' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await askFor('203.0.113.1', system.key)).status).toBe(200)
  expect((await askFor('203.0.113.2', unknownKey())).status).toBe(401)
})

test('a forwarded address that the client sent itself is ignored', async () => {
  const direct = new Agent()
  const statuses: number[] = []
  for (let refusal = 1; refusal <= 61; refusal += 1) {
    statuses.push((await askFor(`198.51.100.${refusal}`, unknownKey(), direct)).status)
  }
  await direct.close()
  expect(statuses).toEqual([...Array(60).fill(401), 429])
})

test('the addresses of an IPv6 /64 share the limits of one address', async () => {
  const list = (address: string) =>
    fetchFrom(`${system.gateway.url}/api/v1/agents`, {
      headers: { 'x-forwarded-for': address },
      dispatcher: proxy,
    }).then((response) => response.body?.cancel().then(() => response.status))
  for (let caller = 1; caller <= 30; caller += 1) {
    expect(await list(`2001:db8:0:1:${caller.toString(16)}::1`)).toBe(200)
  }
  expect(await list('2001:db8:0:1:ffff::1')).toBe(429)
  expect(await list('2001:db8:0:2::1')).toBe(200)

  for (let refusal = 1; refusal <= 60; refusal += 1) {
    const address = `2001:db8:0:3:${refusal.toString(16)}::1`
    expect(await askFor(address, unknownKey())).toMatchObject({ status: 401 })
  }
  expect(await askFor('2001:db8:0:3:ffff::1', unknownKey())).toMatchObject({ status: 429 })
})

test('ten failed logins for a name from an address block further ones, even with the right password', async () => {
  const { username, password } = await system.api.createUser(system.token, 'forgetful')
  const login = (name: string, word: string) =>
    system.api.call('POST', '/api/v1/login', { body: { username: name, password: word } })
  for (let failure = 1; failure <= 10; failure += 1) {
    expect(await login(username, 'wrong')).toMatchObject({ status: 401, body: { reason: 'login_failed' } })
  }
  const refused = await login(username.toUpperCase(), password)
  expect(refused).toMatchObject({ status: 429, body: { reason: 'rate_limited' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await login('admin', system.gateway.admin.password)).status).toBe(200)
})

/** A well-formed key that was never issued. */
function unknownKey(): string {
  return makeApiKey(randomBytes)
}
