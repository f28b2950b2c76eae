import { type Client, createClient } from 'graphql-sse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import type { GraphqlResult } from '../support/graphql.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'
import { until } from '../support/until.ts'

// A process, because chats of several clients stay open on connections, some of which are not read, until their key ends.

const CHAT = `subscription ($input: ChatInput!) { chat(input: $input) {
  __typename ... on ChatStarted { callId }
} }`

function clientOf(url: string, credential: string): Client {
  return createClient({
    url: `${url}/graphql`,
    headers: { authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  })
}

/** Follows a chat to its end; `onText` is called with the id of the call when the reply has begun. */
async function follow(client: Client, input: object, onText: (callId: string) => unknown) {
  const results: GraphqlResult[] = []
  let hasText = false
  for await (const result of client.iterate({ query: CHAT, variables: { input } })) {
    results.push(result as unknown as GraphqlResult)
    if (hasText || results.at(-1)?.data?.chat?.__typename !== 'ChatText') continue
    hasText = true
    await onText(results[0]?.data.chat.callId)
  }
  return results
}

/** The outcome and the reason of a call, once they are written. */
const endOf = (api: Api, token: string, callId: string) =>
  until('the end of the call is written', async () => {
    const { body } = await api.call('GET', '/api/v1/calls?limit=100', { token })
    const row = body.data.items.find(({ id }: { id: string }) => id === callId)
    return row?.outcome != null && [row.outcome, row.reason]
  })

const endedWith = (code: string) => ({
  data: { chat: null },
  errors: [{ path: ['chat'], extensions: { code, status: 401 } }],
})

describe('with one gateway', () => {
  let system: GatewayWithSandbox

  beforeAll(async () => {
    system = await startGatewayWithSandbox()
  })
  afterAll(() => system?.remove())

  interface Credential {
    readonly id: string
    readonly ownerId: string
  }
  const ENDS: [code: string, by: (credential: Credential) => unknown][] = [
    ['key_revoked', ({ id }) => system.api.call('POST', `/api/v1/api-keys/${id}/revoke`, as())],
    ['owner_suspended', ({ ownerId }) => system.api.call('PATCH', `/api/v1/users/${ownerId}`, suspend())],
    ['key_expired', () => undefined],
  ]
  const as = () => ({ token: system.token })
  const suspend = () => ({ ...as(), body: { status: 'suspended' } })

  let users = 0
  async function newKey(lifetimeMs: number) {
    users += 1
    const { id: ownerId } = await system.api.createUser(system.token, `owner-${users}`, { role: 'premium' })
    const expires_at = new Date(Date.now() + lifetimeMs).toISOString()
    const key = await system.api.createKey(system.token, { owner_id: ownerId, expires_at })
    return { id: key.id, key: key.full_key, ownerId }
  }

  test.each(ENDS)('a chat ends with %s, and stops the platform', async (code, by) => {
    const credential = await newKey(code === 'key_expired' ? 4_000 : 3_600_000)
    const { seen } = system.sandbox.agents.openai
    const client = clientOf(system.gateway.url, credential.key)
    const input = { agentId: 'openai', query: 'sandbox:slow=50 sandbox:long=1000 Hello' }
    let callId = ''
    const results = await follow(client, input, (id) => {
      callId = id
      return by(credential)
    })
    expect(results.at(-1)).toMatchObject(endedWith(code))
    await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
    expect(await endOf(system.api, system.token, callId)).toEqual(['rejected', code])
    client.dispose()

    const again = clientOf(system.gateway.url, system.key)
    const whole = await follow(again, { agentId: 'openai', query: 'Hello' }, () => undefined)
    expect(whole.at(-1)?.data?.chat.__typename).toBe('ChatFinished')
    again.dispose()
  })

  test('a chat ends also before its first text, and while its client does not read', async () => {
    const { id, key } = await newKey(3_600_000)
    const client = clientOf(system.gateway.url, key)
    const ends = ['sandbox:hang Hello', 'sandbox:slow=50 sandbox:long=1000 Hello'].map(async (query) => {
      const { seen } = system.sandbox.agents.openai
      const before = seen.runs.length
      const items = client.iterate({ query: CHAT, variables: { input: { agentId: 'openai', query } } })
      await items.next()
      await seen.waitFor(({ runs }) => runs.length > before)
      return { items, until: () => seen.waitFor(({ runs }) => runs.slice(before).every(isOver)) }
    })
    const isOver = ({ state }: { state: string }) => state === 'aborted'
    const chats = await Promise.all(ends)
    await system.api.call('POST', `/api/v1/api-keys/${id}/revoke`, as())
    for (const { items, until: over } of chats) {
      await over()
      let last: unknown
      for await (const result of items) last = result
      expect(last).toMatchObject(endedWith('key_revoked'))
    }
    client.dispose()
  })
})

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('with two replicas', () => {
  let replicas: Replicas

  beforeAll(async () => {
    replicas = await startReplicas(server, [{}, {}])
  })
  afterAll(() => replicas?.remove())

  test('a key that one revokes ends the chats on the other', async () => {
    const { gateways, platform } = replicas
    const [first, second] = gateways as [TestGateway, TestGateway]
    const api = apiOf(first)
    const token = await api.login()
    const { id, full_key: key } = await api.createKey(token)
    platform.hold()
    const client = clientOf(second.url, key)
    const results = await follow(client, { agentId: 'counting', query: 'Hello' }, () =>
      api.call('POST', `/api/v1/api-keys/${id}/revoke`, { token }),
    )
    expect(results.at(-1)).toMatchObject(endedWith('key_revoked'))
    client.dispose()
    platform.release()
  })
})
