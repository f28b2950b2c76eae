import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'
import { readerOf } from '../support/stream.ts'

// A process, because live usage is an open connection, which gets events of other calls and is ended by the stop of the gateway.

const DOCUMENT = 'subscription { usageUpdated { day totals { calls totalTokens } quota { remaining } } }'

async function subscribe(url: string, credential: string, signal?: AbortSignal) {
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${credential}` },
    body: JSON.stringify({ query: DOCUMENT }),
    ...(signal !== undefined && { signal }),
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  return readerOf(response)
}

/** The payloads of a stream, and whether it was completed. */
function itemsOf(text: string) {
  const events = text.split('\n\n')
  return {
    items: events.flatMap((event) =>
      event.startsWith('event: next') ? [JSON.parse(event.split('data: ')[1] ?? '')] : [],
    ),
    isComplete: events.some((event) => event.startsWith('event: complete')),
  }
}

const calls = (count: number) => new RegExp(`"calls":${count}\\b`)

describe('with one gateway', () => {
  let scene: GatewayWithSandbox

  beforeAll(async () => {
    scene = await startGatewayWithSandbox()
  })
  afterAll(() => scene?.remove())

  test('the usage of today comes at once, and again when a call has ended', async () => {
    const { api, gateway, token } = scene
    const { full_key: key } = await api.createKey(token)
    const updates = await subscribe(gateway.url, key)
    await updates.until(calls(0))
    await (await api.chat(key, 'dify')).text()
    const { items } = itemsOf(await updates.until(calls(1)))
    const { usageUpdated } = items.at(-1).data
    expect(usageUpdated.day).toBe(`${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`)
    expect(usageUpdated.totals.totalTokens).toBeGreaterThan(0)
    expect(usageUpdated.quota.remaining).toBeLessThan(1_000_000)
  })

  test('live usage ends with the reason when the key is revoked, the token logs out or its user is suspended', async () => {
    const { api, gateway, token } = scene
    const { id, full_key: key } = await api.createKey(token)
    const user = await api.createUser(token, 'suspended-later')
    const [ofKey, ofUser] = [
      await subscribe(gateway.url, key),
      await subscribe(gateway.url, await api.login(user.username, user.password)),
    ]
    const leaving = await api.login()
    const ofLeaving = await subscribe(gateway.url, leaving)
    for (const updates of [ofKey, ofUser, ofLeaving]) await updates.until(/"calls"/)
    await api.call('POST', `/api/v1/api-keys/${id}/revoke`, { token })
    await api.call('PATCH', `/api/v1/users/${user.id}`, { token, body: { status: 'suspended' } })
    await api.call('POST', '/api/v1/logout', { token: leaving })
    for (const [updates, code] of [
      [ofKey, 'key_revoked'],
      [ofUser, 'owner_suspended'],
      [ofLeaving, 'token_revoked'],
    ] as const) {
      const { items, isComplete } = itemsOf(await updates.rest())
      expect(items.at(-1)).toMatchObject({
        data: { usageUpdated: null },
        errors: [{ path: ['usageUpdated'], extensions: { code, status: 401 } }],
      })
      expect(isComplete).toBe(true)
    }
  })

  test('a refused credential ends live usage with its reason', async () => {
    const text = await (await subscribe(scene.gateway.url, 'tl_nothing')).rest()
    expect(itemsOf(text).items).toMatchObject([
      { errors: [{ extensions: { code: 'credential_malformed' } }] },
    ])
  })

  test('live usage ends when its token expires, and goes on with a new one', async () => {
    const short = await startGatewayWithSandbox({ settings: { tokens: { lifetimeSeconds: 5 } } })
    try {
      const updates = await subscribe(short.gateway.url, await short.api.login())
      const { items, isComplete } = itemsOf(await updates.rest())
      expect(items[0]).toMatchObject({ data: { usageUpdated: { totals: { calls: 0 } } } })
      expect(items.at(-1).errors).toMatchObject([{ extensions: { code: 'token_expired', status: 401 } }])
      expect(isComplete).toBe(true)
      const again = await subscribe(short.gateway.url, await short.api.login())
      await again.until(calls(0))
    } finally {
      await short.remove()
    }
  })

  test('live usage ends with draining when the gateway stops', async () => {
    const updates = await subscribe(scene.gateway.url, scene.token)
    await updates.until(/"calls"/)
    const [text, code] = await Promise.all([updates.rest(), scene.gateway.stop()])
    expect(itemsOf(text).items.at(-1)).toMatchObject({
      errors: [{ extensions: { code: 'draining', status: 503 } }],
    })
    expect(itemsOf(text).isComplete).toBe(true)
    expect(code).toBe(0)
  })
})

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('with two replicas', () => {
  let replicas: Replicas

  beforeAll(async () => {
    replicas = await startReplicas(server, [{}, {}])
  })
  afterAll(() => replicas?.remove())

  test('the calls of one are seen by the subscribers of both', async () => {
    const [first, second] = replicas.gateways as [TestGateway, TestGateway]
    const api = apiOf(first)
    const token = await api.login()
    const { full_key: key } = await api.createKey(token)
    const updates = [await subscribe(first.url, key), await subscribe(second.url, key)]
    for (const each of updates) await each.until(calls(0))
    await (await api.chat(key, 'counting')).text()
    for (const each of updates) await each.until(calls(1))
  })
})
