import { randomUUID } from 'node:crypto'
import type { SandboxAgent } from '@trunkline/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because the queue belongs to a process, and what it refuses when it is stopped is seen only from outside.

let system: GatewayWithSandbox
/** The platform of the agent `down`. */
let fallible: SandboxAgent

beforeAll(async () => {
  const plenty = { points: 100_000 }
  system = await startGatewayWithSandbox({
    settings: {
      limits: { chat: plenty, calls: plenty, refusedKeys: plenty, streamsPerKey: 2 },
      drain: { acceptMs: 0, timeoutMs: 60_000 },
    },
    async agents(entries, { startSecond }) {
      fallible = await startSecond('openai')
      return {
        one: { ...entries.openai, concurrency: { max: 1, queue: PLACES, waitMs: 60_000 } },
        bare: { ...entries.openai, concurrency: { max: 1, queue: 0, waitMs: 1_000 } },
        keyed: { ...entries.openai, concurrency: { max: 20, perKey: 5, queue: 600, waitMs: 60_000 } },
        down: { ...entries.openai, baseUrl: fallible.baseUrl },
      }
    },
  })
})
afterEach(() => fallible.control.recover())
afterAll(() => system?.remove())

interface Key {
  readonly id: string
  readonly full_key: string
  readonly owner_id: string
}
const newKey = (more: Record<string, unknown> = {}): Promise<Key> => system.api.createKey(system.token, more)

interface Options {
  readonly query?: string
  readonly stream?: boolean
  readonly signal?: AbortSignal
  readonly requestId?: string
}

function ask(agent: string, key: string, options: Options = {}) {
  const { query = 'Hello', stream = false, signal, requestId = randomUUID() } = options
  const headers = { 'x-request-id': requestId }
  return system.api.chat(
    key,
    agent,
    { query, stream, app_id: '', chat_id: randomUUID() },
    { headers, ...(signal && { signal }) },
  )
}

async function refusalIn(response: Response): Promise<readonly [number, unknown]> {
  const { reason } = (await response.json()) as { reason?: unknown }
  return [response.status, reason]
}

/** How many calls of the key are in the ledger and how many were counted. */
async function countsOf({ id }: Key): Promise<readonly [number, number]> {
  const { token } = system
  const rows = await system.api.call('GET', `/api/v1/calls?limit=100&key_id=${id}`, { token })
  const key = await system.api.call('GET', `/api/v1/api-keys/${id}`, { token })
  return [rows.body.data.items.length, key.body.data.usage.total_calls]
}

/** Takes a slot of the agent; returns what gives it back. */
async function hold(agent: string, key = system.key): Promise<() => void> {
  const { seen } = system.sandbox.agents.openai
  const query = `sandbox:hang ${randomUUID()}`
  const client = new AbortController()
  ask(agent, key, { query, stream: true, signal: client.signal })
    .then((response) => response.text())
    .catch(() => undefined)
  await until('the slot is taken', () => seen.turns({ query }) === 1)
  return () => client.abort()
}

/** So many places has the queue of the agent `one`. */
const PLACES = 3

/** Takes all places of the queue of `one`, whose slot is taken: of one call more than it has places, one is refused. */
async function fillQueue(key: string) {
  const calls = Array.from({ length: PLACES + 1 }, () => {
    const client = new AbortController()
    const requestId = randomUUID()
    const answer = ask('one', key, { signal: client.signal, requestId }).then(
      refusalIn,
      () => 'left' as const,
    )
    return { client, answer, requestId }
  })
  const refused = await Promise.any(
    calls.map(async (call) => {
      expect(await call.answer).toEqual([503, 'agent_overloaded'])
      return call
    }),
  )
  return calls.filter((call) => call !== refused)
}

describe('a call that waits', () => {
  test.each(['revoked', 'suspended'] as const)(
    'with a key that becomes %s is refused when its turn comes, leaves no row, and gives its slot on',
    async (what) => {
      const user = await system.api.createUser(system.token, `user-${randomUUID().slice(0, 8)}`, {
        role: 'premium',
      })
      const key = await newKey({ owner_id: user.id })
      const release = await hold('one')
      const calls = await fillQueue(key.full_key)
      const { token } = system
      const done =
        what === 'revoked'
          ? await system.api.call('POST', `/api/v1/api-keys/${key.id}/revoke`, { token })
          : await system.api.call('PATCH', `/api/v1/users/${user.id}`, {
              token,
              body: { status: 'suspended' },
            })
      expect(done.status).toBe(200)
      release()
      for (const { answer } of calls)
        expect(await answer).toEqual([401, what === 'revoked' ? 'key_revoked' : 'owner_suspended'])
      expect(await countsOf(key)).toEqual([0, 0])
      expect((await ask('one', system.key)).status).toBe(200)
    },
  )

  test('and whose client leaves has no row and no place in the queue', async () => {
    const key = await newKey()
    const release = await hold('one')
    const left = await fillQueue(key.full_key)
    for (const { client } of left) client.abort()
    for (const { answer } of left) expect(await answer).toBe('left')
    // By their ids, since the line of an earlier client that has left may be written only now.
    for (const { requestId } of left)
      await until('the gateway has noticed', () =>
        new RegExp(`"reqId":"${requestId}".*"status":499`).test(system.gateway.output),
      )
    // All places are free again.
    const next = await fillQueue(system.key)
    release()
    for (const { answer } of next) expect(await answer).toEqual([200, undefined])
    expect(await countsOf(key)).toEqual([0, 0])
  })
})

describe('a key that is not valid is told so, and takes no place', () => {
  const keys = async () => {
    const revoked = await newKey()
    await system.api.call('POST', `/api/v1/api-keys/${revoked.id}/revoke`, { token: system.token })
    const expiresAt = Date.now() + 1_500
    const expired = await newKey({ expires_at: new Date(expiresAt).toISOString() })
    // It is not used before, since what was remembered of it may be a second old.
    await until('the key has expired', () => Date.now() > expiresAt + 100)
    const unknown = `${system.key.slice(0, 3)}${system.key.slice(3).split('').reverse().join('')}`
    return { revoked: revoked.full_key, expired: expired.full_key, unknown }
  }

  test('at an agent that is down and at one that is full', async () => {
    const { revoked, expired, unknown } = await keys()
    const release = await hold('one')
    await fallible.control.fail('refuse')
    await until('the agent is refused', async () => (await ask('down', system.key)).status === 503)
    for (const agent of ['one', 'down']) {
      expect(await refusalIn(await ask(agent, revoked))).toEqual([401, 'key_revoked'])
      expect(await refusalIn(await ask(agent, expired))).toEqual([401, 'key_expired'])
      const [status] = await refusalIn(await ask(agent, unknown))
      expect(status).toBe(401)
    }
    release()
  })

  test('and neither does one that may not use the agent', async () => {
    const key = await newKey({ allowed_agents: ['openai'] })
    await fallible.control.fail('refuse')
    await until('the agent is refused', async () => (await ask('down', system.key)).status === 503)
    const release = await hold('one')
    for (const agent of ['one', 'down'])
      expect(await refusalIn(await ask(agent, key.full_key))).toEqual([403, 'agent_denied'])
    release()
  })
})

test('with perKey, the general limit of streams of a key does not apply, and other agents keep it', async () => {
  const key = await newKey()
  const held = await Promise.all(Array.from({ length: 4 }, () => hold('keyed', key.full_key)))
  const two = await Promise.all([hold('openai', key.full_key), hold('openai', key.full_key)])
  expect(await refusalIn(await ask('openai', key.full_key, { stream: true }))).toEqual([429, 'rate_limited'])
  for (const release of [...held, ...two]) release()
})

test('a key with 500 calls at once costs no other key a refusal', async () => {
  const [greedy, modest] = await Promise.all([newKey(), newKey()])
  const flood = Array.from({ length: 500 }, () => ask('keyed', greedy.full_key).then(({ status }) => status))
  const others: number[] = []
  for (let call = 0; call < 20; call += 1) others.push((await ask('keyed', modest.full_key)).status)
  expect(new Set(others)).toEqual(new Set([200]))
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]))
})

test('a call that is shed is neither counted nor a row of the ledger', async () => {
  const key = await newKey()
  const release = await hold('bare')
  const refused = await Promise.all(
    Array.from({ length: 20 }, () => ask('bare', key.full_key).then(refusalIn)),
  )
  expect(new Set(refused.map(String))).toEqual(new Set(['503,agent_overloaded']))
  expect(await countsOf(key)).toEqual([0, 0])
  release()
})

test('a process that stops refuses the calls that wait at once', async () => {
  const key = await newKey()
  const release = await hold('one')
  const waiting = await fillQueue(key.full_key)
  const stopping = system.gateway.stop()
  const refused = await Promise.all(waiting.map(({ answer }) => answer))
  expect(new Set(refused.map(String))).toEqual(new Set(['503,draining']))
  // The call that they wait for runs on, which the end of the drain would have ended as well.
  expect(system.sandbox.agents.openai.seen.runs.map(({ state }) => state)).toContain('running')
  release()
  expect(await stopping).toBe(0)
  await system.gateway.start()
}, 60_000)
