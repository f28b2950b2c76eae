import { randomUUID } from 'node:crypto'
import type { SandboxAgent } from '@trunkline/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because who is refused depends on admission, breakers and platforms together, and metrics and the log tell of it.

const AGENTS = ['poisoned', 'mixed', 'failing', 'down'] as const

let system: GatewayWithSandbox
/** The platform of the agents that fail for everybody, and the second deployment of the agent `mixed`. */
let fallible: SandboxAgent
/** API keys, each of an owner of its own. */
let keys: { readonly ada: string; readonly bob: string; readonly eve: string }

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    async agents({ openai }, { startSecond }) {
      fallible = await startSecond('openai')
      const { baseUrl, apiKey } = fallible
      const spare = { id: 'spare', priority: 1, baseUrl, apiKey }
      return {
        poisoned: { ...openai },
        mixed: { ...openai, deployments: [{ id: 'main' }, spare] },
        failing: { ...openai, baseUrl },
        down: { ...openai, baseUrl },
      }
    },
  })
  const keyOf = async (username: string) => {
    const { id } = await system.api.createUser(system.token, username, { role: 'premium' })
    return (await system.api.createKey(system.token, { owner_id: id })).full_key
  }
  keys = { ada: await keyOf('ada'), bob: await keyOf('bob'), eve: await keyOf('eve') }
})
afterEach(() => fallible.control.recover())
afterAll(() => system?.remove())

async function ask(key: string, agent: (typeof AGENTS)[number], query = 'Hello'): Promise<string> {
  const response = await system.api.chat(key, agent, {
    query,
    stream: false,
    app_id: '',
    chat_id: randomUUID(),
  })
  const { reason } = (await response.json()) as { reason?: string }
  return reason === undefined ? String(response.status) : `${response.status} ${reason}`
}

/** The state of each breaker of an agent, as administrators see it and as the metrics tell it. */
async function breakersOf(agent: (typeof AGENTS)[number]): Promise<readonly [unknown[], string[]]> {
  const { body } = await system.api.call('GET', `/api/v1/agents/${agent}/deployments`, {
    token: system.token,
  })
  const metrics = await (await fetch(`${system.gateway.url}/metrics`)).text()
  const values = metrics
    .split('\n')
    .filter((line) => line.startsWith(`trunkline_breaker_state{agent="${agent}"`))
  return [
    body.data.items.map(({ breaker }: { breaker: unknown }) => breaker),
    values.map((line) => line.split(' ').at(-1) ?? ''),
  ]
}

const many = (number: number, call: () => Promise<string>) =>
  Promise.all(Array.from({ length: number }, call))

const POISON = 'sandbox:error=server Hello'
const REFUSED = '503 agent_unavailable'

describe('input that makes the platform answer a bare 500', () => {
  test('is refused to its owner, one call after the other and many at once, and costs others nothing', async () => {
    const attack: string[] = []
    const innocent: string[] = []
    for (let round = 0; round < 6; round += 1) {
      const poison = many(round % 2 === 0 ? 10 : 1, () => ask(keys.eve, 'poisoned', POISON))
      innocent.push(...(await many(4, () => ask(keys.ada, 'poisoned'))))
      attack.push(...(await poison))
      innocent.push(...(await many(4, () => ask(keys.bob, 'poisoned'))))
    }
    expect(new Set(innocent)).toEqual(new Set(['200']))
    expect(attack).toContain(REFUSED)
    expect(attack.at(-1)).toBe(REFUSED)
    await expect.poll(() => breakersOf('poisoned'), { timeout: 20_000 }).toEqual([['closed'], ['0']])
    expect(system.gateway.output).toContain('the deployment fails calls of one owner')
  })

  test('costs the first others nothing, if one owner has sent it with several keys before anybody else has called', async () => {
    const { body } = await system.api.call('GET', '/api/v1/users?limit=100', { token: system.token })
    const eve = body.data.items.find(({ username }: { username: string }) => username === 'eve')
    const second = await system.api.createKey(system.token, { owner_id: eve.id })
    for (let call = 0; call < 6; call += 1)
      await ask(call % 2 === 0 ? keys.eve : second.full_key, 'mixed', POISON)
    expect(await many(5, () => ask(keys.ada, 'mixed'))).toEqual(Array(5).fill('200'))
    // All of them were served by the first deployment.
    expect(fallible.seen.turns({ query: 'Hello' })).toBe(0)
  })

  test('moves nobody else to another deployment, nor does input that is refused as a rate limit', async () => {
    await many(3, () => ask(keys.bob, 'mixed', 'sandbox:error=rate-limit Hello'))
    const before = fallible.seen.turns({ query: 'Hello' })
    expect(await many(5, () => ask(keys.ada, 'mixed'))).toEqual(Array(5).fill('200'))
    expect(fallible.seen.turns({ query: 'Hello' })).toBe(before)
  })
})

test('a platform that answers 500 to everybody is seen within five calls of two owners, and used again', async () => {
  await fallible.control.fail('500')
  for (const key of [keys.ada, keys.bob, keys.ada, keys.bob, keys.ada])
    expect(await ask(key, 'failing')).toBe('502 agent_error')
  expect([await ask(keys.ada, 'failing'), await ask(keys.bob, 'failing')]).toEqual([REFUSED, REFUSED])
  await expect.poll(() => breakersOf('failing'), { timeout: 20_000 }).toEqual([['open'], ['2']])
  await fallible.control.recover()
  expect(await ask(keys.eve, 'failing')).toBe('200')
  expect([await ask(keys.ada, 'failing'), await ask(keys.bob, 'failing')]).toEqual(['200', '200'])
  await expect.poll(() => breakersOf('failing'), { timeout: 20_000 }).toEqual([['closed'], ['0']])
})

test('a platform that cannot be connected to is seen within five calls, whoever calls, and used again', async () => {
  await fallible.control.fail('refuse')
  const answers: string[] = []
  for (let call = 0; call < 5; call += 1)
    answers.push(await ask(call % 2 === 0 ? keys.ada : keys.bob, 'down'))
  expect(answers[0]).toBe('502 agent_unreachable')
  expect([await ask(keys.ada, 'down'), await ask(keys.eve, 'down')]).toEqual([REFUSED, REFUSED])
  await expect.poll(() => breakersOf('down'), { timeout: 20_000 }).toEqual([['open'], ['2']])
  await fallible.control.recover()
  await until('it is used again', async () => (await ask(keys.ada, 'down')) === '200')
  expect(await ask(keys.eve, 'down')).toBe('200')
}, 30_000)
