import { expect, test } from 'vitest'
import { createAgentCatalog } from '#core/agents/catalog.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import type { Permission, Principal } from '#core/principal.ts'
import { systemRuntime } from '#core/runtime.ts'
import type { Agent, HelperCall } from './adapter.ts'
import { createAgentDirectory } from './directory.ts'
import { servedBySelf } from './served-agent.ts'
import { agentOf } from './transcripts.test-support.ts'

type Probe = () => { status: number; body: unknown } | Promise<never>

const good: Probe = () => ({ status: 200, body: { data: [], code: 200, name: 'app' } })
const apps = ['small', 'large'].map((id) => ({ id, name: `The ${id} one`, default: false, options: {} }))

function directoryOf(agents: readonly Agent[], probe: (agent: Agent) => ReturnType<Probe> = good) {
  let probes = 0
  let elapsedMs = 0
  const upstream = {
    async help(agent: Agent, call: HelperCall<unknown>) {
      probes += 1
      const { status, body } = await probe(agent)
      return call.read(status, body, () => undefined)
    },
  } as unknown as Upstream
  const directory = createAgentDirectory({
    catalog: createAgentCatalog(agents.map(servedBySelf)),
    upstream,
    runtime: { ...systemRuntime, elapsedMs: () => elapsedMs },
  })
  return {
    directory,
    probes: () => probes,
    pass(ms: number) {
      elapsedMs += ms
    },
  }
}

function callerOf(allowedAgents: readonly string[]): Principal {
  const permissions: Permission[] = ['chat']
  return { userId: 'u', role: 'user', via: { kind: 'key', keyId: 'k', permissions, allowedAgents } }
}

test('a record contains what a client may know, and no addresses or credentials', async () => {
  const agent = agentOf('fastgpt', { name: 'Help desk', description: 'Helps.', apps, sandbox: true })
  const { directory } = directoryOf([agent])
  const [record] = await directory.list(undefined)
  expect(record).toEqual({
    id: 'fastgpt',
    name: 'Help desk',
    platform: 'fastgpt',
    description: 'Helps.',
    status: 'available',
    requires: ['app_id'],
    features: { stream: true, detail: true, files: true, conversation: true, usage: true, stop: true },
    apps: [
      { id: 'small', name: 'The small one' },
      { id: 'large', name: 'The large one' },
    ],
    sandbox: true,
  })
  expect(JSON.stringify(record)).not.toMatch(/platform\.example|key-of-agent/)
})

test('agents are found by their ids as in the list, without a probe', async () => {
  const { directory, probes } = directoryOf([agentOf('fastgpt', { apps }), agentOf('dify')])
  const ids = ['dify', 'fastgpt', 'none']
  expect(directory.find(undefined, ids).map(({ id }) => id)).toEqual(['fastgpt', 'dify'])
  expect(directory.find(callerOf(['fastgpt/small']), ids)).toMatchObject([
    { id: 'fastgpt', apps: [{ id: 'small', name: 'The small one' }] },
  ])
  expect(probes()).toBe(0)
})

test.each<[string, Probe, string]>([
  ['answers', good, 'available'],
  [
    'rejects our credentials',
    () => ({ status: 401, body: { error: { code: 'invalid_api_key' } } }),
    'degraded',
  ],
  ['is rate limited', () => ({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } }), 'degraded'],
  ['fails', () => ({ status: 500, body: {} }), 'unavailable'],
  ['is replaced by a proxy’s error page', () => ({ status: 502, body: '<html>' }), 'unavailable'],
  ['does not answer', () => Promise.reject(new Error('refused')), 'unavailable'],
])('a platform whose probe %s has the right status', async (_name, probe, status) => {
  const { directory } = directoryOf([agentOf('openai')], probe)
  expect(await directory.list(undefined)).toMatchObject([{ status }])
})

test('a failing platform does not affect the others', async () => {
  const { directory } = directoryOf([agentOf('openai'), agentOf('dify')], ({ id }) =>
    id === 'dify' ? Promise.reject(new Error('refused')) : good(),
  )
  const records = await directory.list(undefined)
  expect(records.map(({ id, status }) => [id, status])).toEqual([
    ['openai', 'available'],
    ['dify', 'unavailable'],
  ])
})

test('concurrent listings share one probe, which is cached for five seconds', async () => {
  const { directory, probes, pass } = directoryOf([agentOf('openai')])
  await Promise.all([directory.list(undefined), directory.list(undefined)])
  pass(4_999)
  await directory.list(undefined)
  expect(probes()).toBe(1)
  pass(1)
  await directory.list(undefined)
  expect(probes()).toBe(2)
})

test('a key sees the agents and apps on its allow-list, or all of them if the list is empty', async () => {
  const { directory } = directoryOf([agentOf('openai', { apps }), agentOf('dify')])
  const seenBy = async (allowedAgents: string[]) =>
    (await directory.list(callerOf(allowedAgents))).map(({ id, apps: seen }) => [
      id,
      seen.map((app) => app.id),
    ])
  expect(await seenBy([])).toEqual([
    ['openai', ['small', 'large']],
    ['dify', []],
  ])
  expect(await seenBy(['openai'])).toEqual([['openai', ['small', 'large']]])
  expect(await seenBy(['openai/large', 'dify'])).toEqual([
    ['openai', ['large']],
    ['dify', []],
  ])
  expect(await seenBy(['coze'])).toEqual([])
  // Callers cannot choose an app on Dify, so this key cannot use Dify at all.
  expect(await seenBy(['dify/helpdesk', 'openai/gone'])).toEqual([])
})

test('every listed model name can be called', () => {
  const { directory } = directoryOf([
    agentOf('fastgpt'),
    agentOf('fastgpt', { id: 'desk', apps: [{ id: 'only', name: 'only', default: false, options: {} }] }),
    agentOf('dify'),
    agentOf('coze'),
    agentOf('coze', { id: 'bot', options: { botId: 'b1' } }),
    agentOf('openai', { apps }),
    agentOf('openai', { id: 'preset', apps: apps.map((app) => ({ ...app, default: app.id === 'large' })) }),
  ])
  const named = (allowed: string[]) => directory.models(callerOf(allowed)).map(({ id }) => id)
  // fastgpt and coze require an app id; openai has two apps and no default.
  expect(named([])).toEqual([
    ...['desk', 'desk/only', 'dify', 'bot', 'openai/small', 'openai/large'],
    ...['preset', 'preset/small', 'preset/large'],
  ])
  expect(named(['preset/small', 'desk/only'])).toEqual(['desk', 'desk/only', 'preset/small'])
  expect(named(['preset/large'])).toEqual(['preset', 'preset/large'])
  // A key's allow-list may name an app on a platform that accepts any app id.
  expect(named(['fastgpt/mine', 'bot/b2', 'dify/none'])).toEqual(['fastgpt/mine', 'bot/b2'])
})
