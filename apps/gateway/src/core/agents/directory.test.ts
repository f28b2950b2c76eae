import { expect, test } from 'vitest'
import { createAgentCatalog } from '#core/agents/catalog.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Permission, Principal } from '#core/requests/principal.ts'
import type { Agent, HelperCall } from './adapter.ts'
import { createAgent } from './create-agent.ts'
import type { DeploymentLoad, ProcessLoad } from './deployments/load.ts'
import { createAgentDirectory } from './directory.ts'
import { type Deployment, type ServedAgent, servedBySelf } from './served-agent.ts'
import { agentOf } from './transcripts.test-support.ts'
import { CONFIGURED_CARDS } from './upstream/configured-cards.test-support.ts'

type Probe = () => { status: number; body: unknown } | Promise<never>

const good: Probe = () => ({ status: 200, body: { data: [], code: 200, name: 'app' } })
const apps = ['small', 'large'].map((id) => ({ id, name: `The ${id} one`, default: false, options: {} }))

function directoryOf(
  agents: readonly (Agent | ServedAgent)[],
  probe: (agent: Agent) => ReturnType<Probe> = good,
  processes: readonly ProcessLoad[] = [],
) {
  let probes = 0
  let elapsedMs = 0
  let now = new Date()
  const upstream = {
    cards: CONFIGURED_CARDS,
    async help(agent: Agent, call: HelperCall<unknown>) {
      probes += 1
      const { status, body } = await probe(agent)
      return call.read(status, body, () => undefined)
    },
  } as unknown as Upstream
  const directory = createAgentDirectory({
    catalog: createAgentCatalog(
      agents.map((agent) => ('deployments' in agent ? agent : servedBySelf(agent))),
    ),
    upstream,
    loads: { read: async () => processes },
    runtime: { ...systemRuntime, elapsedMs: () => elapsedMs, now: () => now },
  })
  return {
    directory,
    probes: () => probes,
    pass(ms: number) {
      elapsedMs += ms
    },
    setNow(ms: number) {
      now = new Date(ms)
    },
  }
}

function callerOf(allowedAgents: readonly string[]): Principal {
  const permissions: Permission[] = ['chat']
  return {
    userId: 'u',
    role: 'user',
    via: { kind: 'key', prefix: 'tl_000000000', keyId: 'k', permissions, allowedAgents },
  }
}

const ADMIN: Principal = {
  userId: 'a',
  role: 'admin',
  via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) },
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
    ...{ status: 'available', statusSince: null, statusReason: null },
    requires: ['app_id'],
    features: {
      stream: true,
      detail: true,
      files: true,
      conversation: true,
      usage: true,
      stop: true,
      conversations: { history: true, rename: true, delete: true, feedback: true },
    },
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
  expect(directory.findMany(callerOf([]), ids).map(({ id }) => id)).toEqual(['fastgpt', 'dify'])
  expect(directory.findMany(callerOf(['fastgpt/small']), ids)).toMatchObject([
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

const EU = 'https://eu.platform.example'
const US = 'https://us.platform.example'

/** An agent with the deployments `eu` and `us`, and changes to them. */
function twice(changes: Readonly<Record<string, Partial<Deployment>>> = {}): ServedAgent {
  const agent = servedBySelf(agentOf('openai'))
  const deployments = Object.entries({ eu: EU, us: US }).map(([id, baseUrl]) => ({
    ...(agent.deployments[0] as Deployment),
    id,
    agent: createAgent({ ...agent, baseUrl }),
    state: 'shared',
    sharesState: true,
    ...changes[id],
  }))
  return { ...agent, deployments }
}

/** What a process knows of the deployments of the agent; undefined if it does not know the agent. */
type Known = Readonly<Record<string, Partial<DeploymentLoad>>> | undefined

function processesWith(...known: readonly Known[]): readonly ProcessLoad[] {
  return known.map((deployments, index) => ({
    instance: `process-${index}`,
    host: 'a-host',
    pid: index,
    version: '1.0.0',
    agents: deployments === undefined ? [] : [agentLoad(deployments)],
  }))
}

const agentLoad = (deployments: NonNullable<Known>) => ({
  agent: 'openai',
  inFlight: 0,
  waiting: 0,
  deployments: Object.entries(deployments).map(([id, load]) => ({
    id,
    breaker: 'closed' as const,
    inFlight: 0,
    ...load,
  })),
})

const open = { breaker: 'open' } as const
const closed = {}
const spare = { us: { weight: 0 } }
const down =
  (...urls: readonly string[]) =>
  (agent: Agent) =>
    urls.includes(agent.baseUrl) ? Promise.reject(new Error('refused')) : good()

const CLOSED = { eu: closed, us: closed }
const EU_OPEN = { eu: open, us: closed }
const US_OPEN = { eu: closed, us: open }
const BOTH_OPEN = { eu: open, us: open }
type Probing = { probe?: (agent: Agent) => ReturnType<Probe>; changes?: typeof spare }
test.each<[string, string, readonly Known[], Probing?]>([
  ['both are closed and answer', 'available', [CLOSED]],
  ['one is open in one process', 'degraded', [CLOSED, EU_OPEN]],
  ['one is being tried', 'degraded', [{ eu: { breaker: 'half_open' }, us: closed }]],
  [
    'one would be tried by the next call, and nobody has called',
    'available',
    [{ eu: { breaker: 'half_open', isUnasked: true }, us: closed }],
  ],
  ['a probe fails', 'degraded', [CLOSED], { probe: down(US) }],
  ['both are open in one of two processes', 'degraded', [BOTH_OPEN, US_OPEN]],
  ['both are open in each process', 'unavailable', [BOTH_OPEN, BOTH_OPEN]],
  [
    'both are open to those who have called, and one would serve others',
    'degraded',
    [{ eu: open, us: { ...open, servesOthers: true } }],
  ],
  ['both probes fail', 'unavailable', [CLOSED], { probe: down(EU, US) }],
  ['the one that answers is open everywhere', 'unavailable', [EU_OPEN], { probe: down(US) }],
  ['both are open here, and another process does not tell', 'degraded', [BOTH_OPEN, undefined]],
  ['a disabled one is open', 'available', [US_OPEN], { changes: spare }],
  ['only a disabled one has a way, for its old conversations', 'degraded', [EU_OPEN], { changes: spare }],
  ['nothing is known of any process', 'available', []],
])('where %s, the agent is %s', async (_name, status, known, { probe, changes } = {}) => {
  const { directory } = directoryOf([twice(changes)], probe, processesWith(...known))
  expect(await directory.list(undefined)).toMatchObject([{ status }])
  expect(await directory.statusOf(callerOf([]), 'openai')).toMatchObject({ status })
})

test('an agent that is not available says since when and why, until it is again', async () => {
  const [tenOClock, eleven] = [1_700_000_000_000, 1_700_003_600_000]
  const { directory, pass, setNow } = directoryOf([twice()], (agent) => probe(agent))
  let probe: (agent: Agent) => ReturnType<Probe> = down(EU)
  setNow(tenOClock)
  const read = async () => {
    const [record] = await directory.list(undefined)
    return [record?.status, record?.statusSince?.getTime() ?? null, record?.statusReason]
  }
  expect(await read()).toEqual(['degraded', tenOClock, 'agent_unreachable'])
  probe = () => ({ status: 401, body: { error: { code: 'invalid_api_key' } } })
  setNow(eleven)
  pass(5_000)
  // The first deployment has changed from one trouble to another.
  expect(await read()).toEqual(['degraded', eleven, 'agent_credentials'])
  probe = down(EU, US)
  pass(5_000)
  expect(await read()).toEqual(['unavailable', eleven, 'agent_unreachable'])
  probe = good
  pass(5_000)
  expect(await read()).toEqual(['available', null, null])
})

test('what calls have met earlier than a probe is since when and why', async () => {
  const opened = { ...open, openSince: 1_700_000_000_000, reason: 'agent_timeout' }
  const { directory } = directoryOf([twice()], down(EU, US), processesWith({ eu: open, us: opened }))
  expect(await directory.list(undefined)).toMatchObject([{ status: 'unavailable' }])
  const { directory: other } = directoryOf([twice()], down(EU), processesWith({ eu: opened, us: closed }))
  expect(await other.list(undefined)).toMatchObject([
    { status: 'degraded', statusSince: new Date(opened.openSince), statusReason: 'agent_timeout' },
  ])
})

test('deployments are shown with the sum and each process, and without addresses or credentials', async () => {
  const since = 1_700_000_000_000
  const processes = processesWith(
    { eu: { ...open, inFlight: 1, openSince: since, reason: 'agent_timeout' }, us: { inFlight: 2 } },
    { eu: { inFlight: 40 } },
  )
  const { directory } = directoryOf([twice(spare)], down(US), processes)
  const deployments = await directory.deploymentsOf(ADMIN, 'openai')
  const where = { host: 'a-host', version: '1.0.0' }
  expect(deployments).toEqual([
    {
      ...{ id: 'eu', weight: 1, priority: 0, state: 'shared', disabled: false },
      ...{ status: 'available', probeMs: 0, statusSince: null, statusReason: null },
      breaker: 'open',
      callsInFlight: 41,
      processes: [
        {
          ...{ instanceId: 'process-0', pid: 0, ...where },
          ...{ breaker: 'open', callsInFlight: 1, openSince: new Date(since), reason: 'agent_timeout' },
        },
        {
          ...{ instanceId: 'process-1', pid: 1, ...where },
          ...{ breaker: 'closed', callsInFlight: 40, openSince: null, reason: null },
        },
      ],
    },
    {
      ...{ id: 'us', weight: 0, priority: 0, state: 'shared', disabled: true },
      ...{ status: 'unavailable', probeMs: 0 },
      ...{ statusSince: expect.any(Date), statusReason: 'agent_unreachable' },
      breaker: 'closed',
      callsInFlight: 2,
      // The other process says nothing of it.
      processes: [
        {
          ...{ instanceId: 'process-0', pid: 0, ...where },
          ...{ breaker: 'closed', callsInFlight: 2, openSince: null, reason: null },
        },
      ],
    },
  ])
  expect(JSON.stringify(deployments)).not.toMatch(/platform\.example|key-of-agent/)
  await expect(directory.deploymentsOf(ADMIN, 'none')).rejects.toMatchObject({ reason: 'object_not_found' })
  await expect(directory.statusOf(ADMIN, 'none')).rejects.toMatchObject({ reason: 'agent_denied' })
})

test('each deployment is probed once in five seconds, for the list, the status and the deployments together', async () => {
  const { directory, probes, pass } = directoryOf([twice()])
  const readAll = () =>
    Promise.all([
      directory.list(undefined),
      directory.statusOf(callerOf([]), 'openai'),
      directory.deploymentsOf(ADMIN, 'openai'),
    ])
  await readAll()
  pass(4_999)
  await readAll()
  expect(probes()).toBe(2)
  pass(1)
  await readAll()
  expect(probes()).toBe(4)
})
