import type { Sandbox, SandboxAgent, SandboxPlatform } from '@trunkline/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because breakers, slots and places of conversations work together only in a whole gateway before several servers.

const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const satisfies SandboxPlatform[]
/** The platforms that keep the conversations themselves. */
const KEEPERS = ['fastgpt', 'hiagent', 'dify', 'coze'] as const satisfies SandboxPlatform[]

let system: GatewayWithSandbox
let sandbox: Sandbox
/** A second installation of each platform. */
const seconds = new Map<SandboxPlatform, SandboxAgent>()
let sharing: SandboxAgent

const second = (platform: SandboxPlatform): SandboxAgent => {
  const found = seconds.get(platform)
  if (found === undefined) throw new Error(`no second ${platform}`)
  return found
}

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    async agents(entries, { agents, startSecond }) {
      for (const platform of PLATFORMS) seconds.set(platform, await startSecond(platform))
      sharing = await startSecond('dify', { sharesState: true })
      const timeouts = { connectMs: 2_000, firstByteMs: 3_000 }
      const apart = PLATFORMS.map((platform) => {
        const { baseUrl, apiKey } = second(platform)
        const deployments = [{ id: 'main' }, { id: 'us', baseUrl, apiKey }]
        return [`${platform}-two`, { ...entries[platform], timeouts, deployments }] as const
      })
      return {
        ...Object.fromEntries(apart),
        shared: {
          ...entries.dify,
          deployments: [
            { id: 'eu', state: 'one', formerly: ['main'] },
            { id: 'us', state: 'one', baseUrl: sharing.baseUrl, apiKey: sharing.apiKey },
          ],
        },
        bounded: {
          ...entries.openai,
          baseUrl: agents.openai.baseUrl,
          timeouts: { firstByteMs: 60_000 },
          concurrency: { max: 2, queue: 1, waitMs: 60_000 },
        },
        lone: { ...entries.dify, baseUrl: agents.dify.baseUrl, timeouts },
      }
    },
  })
  sandbox = system.sandbox
})
afterEach(async () => {
  const all = [...Object.values(sandbox.agents), ...seconds.values(), sharing]
  await Promise.all(all.map(({ control }) => control.recover()))
})
afterAll(() => system.remove())

let conversations = 0
const newConversation = () => `conversation-${++conversations}`

function ask(
  agent: string,
  query: string,
  conversation = newConversation(),
  { stream = false, signal }: { stream?: boolean; signal?: AbortSignal } = {},
) {
  const ids = { chat_id: conversation, conversation_id: conversation }
  return system.api.chat(system.key, agent, { query, stream, ...ids }, signal && { signal })
}

const NAME = 'My name is Ada.'
const QUESTION = 'What is my name?'
const ANSWER = { choices: [{ message: { content: expect.stringContaining('Your name is Ada') } }] }

/** The conversations of two calls, one at each deployment of an agent. */
async function conversationsAt(platform: SandboxPlatform): Promise<{ main: string; us: string }> {
  const found: { main?: string; us?: string } = {}
  for (let call = 0; call < 100; call += 1) {
    const conversation = newConversation()
    const before = second(platform).seen.turns()
    const response = await ask(`${platform}-two`, NAME, conversation)
    expect(response.status).toBe(200)
    found[second(platform).seen.turns() > before ? 'us' : 'main'] ??= conversation
    if (found.main !== undefined && found.us !== undefined) return { main: found.main, us: found.us }
  }
  throw new Error('all calls went to one deployment')
}

describe.each(KEEPERS)('conversations at two installations of %s', (platform) => {
  test('stay where they began, wait for what is down, and lose nothing', async () => {
    const { main, us } = await conversationsAt(platform)
    await second(platform).control.fail('refuse')
    // New conversations go to the other deployment, at the first attempt or the second.
    for (let call = 0; call < 12; call += 1)
      expect((await ask(`${platform}-two`, NAME, newConversation())).status).toBe(200)
    expect(await (await ask(`${platform}-two`, QUESTION, main)).json()).toMatchObject(ANSWER)
    const refused = await until('the conversation is refused', async () => {
      const response = await ask(`${platform}-two`, QUESTION, us)
      expect([502, 503]).toContain(response.status)
      return response.status === 503 && response
    })
    expect(await refused.json()).toMatchObject({
      code: 503,
      detail: expect.stringContaining('this conversation lives on a deployment that is down'),
      reason: 'agent_unavailable',
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-should-retry')).toBe('true')

    await second(platform).control.recover()
    const back = await until('the deployment is used again', async () => {
      const response = await ask(`${platform}-two`, QUESTION, us)
      return response.status === 200 && response.json()
    })
    expect(back).toMatchObject(ANSWER)
  }, 60_000)
})

test.each(PLATFORMS)('a stream of %s goes on at another deployment, as one call', async (platform) => {
  await sandbox.agents[platform].control.fail('refuse')
  const conversation = newConversation()
  const before = [sandbox.agents[platform], second(platform)].map(({ seen }) => seen.turns())
  const response = await ask(`${platform}-two`, NAME, conversation, { stream: true })
  const text = await response.text()
  expect([response.status, text.trimEnd().split('\n').at(-1)]).toEqual([200, 'data: [DONE]'])
  const after = [sandbox.agents[platform], second(platform)].map(({ seen }) => seen.turns())
  expect(after.map((turns, index) => turns - (before[index] ?? 0))).toEqual([0, 1])
})

test('a conversation goes on at another address of the same installation, with its context', async () => {
  const conversation = newConversation()
  expect((await ask('shared', NAME, conversation)).status).toBe(200)
  await sandbox.agents.dify.control.fail('refuse')
  expect(await (await ask('shared', QUESTION, conversation)).json()).toMatchObject(ANSWER)
  await sandbox.agents.dify.control.recover()
  await sharing.control.fail('refuse')
  expect(await (await ask('shared', QUESTION, conversation)).json()).toMatchObject(ANSWER)
})

test('from a platform that hangs, an agent that keeps nothing goes elsewhere, and one that may have the turn does not', async () => {
  await sandbox.agents.openai.control.fail('hang')
  for (let call = 0; call < 4; call += 1) expect((await ask('openai-two', NAME)).status).toBe(200)
  const two = [sandbox.agents.dify, second('dify')]
  await Promise.all(two.map(({ control }) => control.fail('hang')))
  const requests = () =>
    two.reduce((sum, { seen }) => sum + seen.requests.filter(({ method }) => method === 'POST').length, 0)
  const before = requests()
  expect(await (await ask('dify-two', NAME)).json()).toMatchObject({ code: 504, reason: 'agent_timeout' })
  expect(requests() - before).toBe(1)
})

test('an agent that is down costs nothing: calls are refused at once and not counted', async () => {
  await sandbox.agents.dify.control.fail('refuse')
  const calls = async () => {
    const { body } = await system.api.call('GET', '/api/v1/usage', { token: system.token })
    return body.data
  }
  const refused = await until('the breaker opens', async () => {
    const response = await ask('lone', NAME)
    return response.status === 503 && response
  })
  expect(await refused.json()).toMatchObject({ reason: 'agent_unavailable' })
  const before = await calls()
  for (let call = 0; call < 20; call += 1) expect((await ask('lone', NAME)).status).toBe(503)
  expect(await calls()).toEqual(before)
})

test('calls wait for a slot in turn, and beyond the queue are refused and not counted', async () => {
  const { seen } = sandbox.agents.openai
  const clients = [new AbortController(), new AbortController()]
  const held = clients.map(({ signal }) =>
    ask('bounded', 'sandbox:hang', undefined, { signal }).catch((error: unknown) => error),
  )
  await until('the platform has both', () => seen.turns({ query: 'sandbox:hang' }) === 2)
  // There is room for one of them.
  const both = [ask('bounded', 'Hello'), ask('bounded', 'Hello')]
  const refused = await Promise.race(both)
  expect(await refused.json()).toMatchObject({ reason: 'agent_overloaded' })
  expect([refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual(['1', 'true'])
  clients[0]?.abort()
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 503])
  clients[1]?.abort()
  await Promise.allSettled(held)
})
