import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RunningEmulator } from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startA2aAgent } from '../agents/a2a/agent.ts'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because what is sent where, and to which address a key goes, shows on real connections alone.

const BINDINGS = {
  http: { url: 'rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  rpc: { url: 'rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  former: { url: 'rpc', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
}
type Binding = keyof typeof BINDINGS
const ALL = Object.keys(BINDINGS) as Binding[]

/** A server that answers as a test says, and notes what it is sent. */
interface CardHost {
  readonly origin: string
  readonly seen: { path: string; authorization: string | undefined }[]
  answer(response: ServerResponse, request: IncomingMessage): void
  close(): Promise<void>
}

async function startCardHost(): Promise<CardHost> {
  const seen: CardHost['seen'] = []
  const host = {
    seen,
    origin: '',
    answer: (response: ServerResponse, _request: IncomingMessage): void => void response.writeHead(404).end(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) => {
    seen.push({ path: request.url ?? '', authorization: request.headers.authorization })
    host.answer(response, request)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  host.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return host
}

const CHAT = 'mutation ($input: ChatInput!) { chat(input: $input) { text } }'

const json = (body: object) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const cardFor = (url: string, more: object = {}) => ({
  supportedInterfaces: [{ ...BINDINGS.http, url }],
  capabilities: { streaming: true },
  ...more,
})

/** What the server of a card may answer, by the agent that is told so. */
const HOSTILE: readonly (readonly [string, CardHost['answer']])[] = [
  ['other-origin', (response) => json(cardFor(`${stranger.origin}/rest`))(response)],
  ['private-address', json(cardFor('http://10.0.0.7/rest'))],
  ['cloud-metadata', json(cardFor('http://169.254.169.254/latest'))],
  ['redirect', (response) => void response.writeHead(302, { location: `${stranger.origin}/card` }).end()],
  ['ten-megabytes', json(cardFor('rest', { description: 'x'.repeat(10_000_000) }))],
  ['page', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['nothing-there', (response) => void response.writeHead(404).end()],
]

const CARD_PATH = '/.well-known/agent-card.json'
const KEY = 'a2a-sandbox'

let a2a: RunningEmulator
let gateway: TestGateway
let api: Api
let key: string
/** Where cards are, and another server, which must never get the key. */
let cards: CardHost
let stranger: CardHost

beforeAll(async () => {
  a2a = await startA2aAgent({ delayMs: 0 })
  cards = await startCardHost()
  stranger = await startCardHost()
  const { baseUrl, apiKey } = a2a.agent
  const plain = { platform: 'a2a', baseUrl, apiKey, breaker: false }
  const bound = ALL.map((name) => [
    name,
    { ...plain, card: { supportedInterfaces: [BINDINGS[name]], capabilities: { streaming: true } } },
  ])
  const brief = bound.map(([name, entry]) => [
    `${name}-brief`,
    { ...Object(entry), timeouts: { totalMs: 2_000 } },
  ])
  const blocking = ALL.map((name) => [
    `${name}-blocking`,
    { ...plain, card: { supportedInterfaces: [BINDINGS[name]] } },
  ])
  gateway = await startGateway({
    config: JSON.stringify({
      limits: { chat: { points: 100_000 } },
      agents: {
        ...Object.fromEntries([...bound, ...brief, ...blocking]),
        alone: { platform: 'a2a', baseUrl, apiKey },
        ...Object.fromEntries(HOSTILE.map(([id]) => [id, { ...plain, baseUrl: `${cards.origin}/${id}` }])),
        elsewhere: { ...plain, card: `${cards.origin}/card.json` },
        listed: { ...plain, baseUrl: cards.origin, origins: [baseUrl] },
        outdated: { ...plain, card: `${cards.origin}/outdated.json`, origins: [cards.origin] },
        stuck: { ...plain, baseUrl: cards.origin, timeouts: { firstByteMs: 300 } },
      },
    }),
  })
  api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
beforeEach(() => {
  cards.seen.length = 0
  stranger.seen.length = 0
})
afterAll(async () => {
  await gateway?.remove()
  await Promise.all([a2a?.close(), cards?.close(), stranger?.close()])
})

async function ask(agent: string, query: string, more: object = {}) {
  const response = await api.chat(key, agent, { query, ...more })
  // biome-ignore lint/suspicious/noExplicitAny: replies are read as they come
  const body: any = await response.json()
  return { status: response.status, reason: body.reason, body, text: body.choices?.[0]?.message.content }
}

test('an agent of which only the address and a key are known answers, by the card that it has itself', async () => {
  const before = a2a.agent.seen.requests.length
  expect(await ask('alone', 'sandbox:echo Hello')).toMatchObject({ status: 200, text: 'Hello' })
  expect(await ask('alone', 'sandbox:echo Hello')).toMatchObject({ status: 200 })
  const paths = a2a.agent.seen.requests.slice(before).map(({ path }) => path)
  expect(paths).toEqual([CARD_PATH, '/rest/message:stream', '/rest/message:stream'])
})

describe.each(ALL)('%s', (binding) => {
  test.each([
    ['a message and no task', 'a2a:message sandbox:echo Hello', 'Hello'],
    ['the message of the last status', 'a2a:status sandbox:echo Hello', 'Hello'],
    ['data alone', 'a2a:data Hello', '{"question":"Hello","variables":{}}'],
  ])('%s is the answer, whether or not the agent streams', async (_name, query, text) => {
    for (const agent of [binding, `${binding}-blocking`])
      expect(await ask(agent, query)).toMatchObject({ status: 200, text })
  })

  test('tokens are counted where the agent puts them into its metadata', async () => {
    const { body } = await ask(binding, 'a2a:usage sandbox:echo Hello')
    expect(body.usage).toMatchObject({
      completion_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
    })
  })

  test.each(['a2a:cut-after-end', 'a2a:cut-after-end=quiet'])(
    'a stream that is cut after the end of its task is whole: %s',
    async (word) => {
      const query = `${word} sandbox:echo one two three`
      expect(await ask(binding, query)).toMatchObject({ status: 200, text: 'one two three' })
      const streamed = await api.chat(key, binding, { query, stream: true })
      expect(await streamed.text()).toMatch(/"finish_reason":"stop"[\s\S]*\[DONE\]/)
    },
  )

  test('a stream that is cut while its task works is asked about, and the task is cancelled when its time is over', async () => {
    const query = `sandbox:truncate ${randomUUID()} Hello`
    expect(await ask(`${binding}-brief`, query)).toMatchObject({ status: 504, reason: 'agent_timeout' })
    await cancelled(query)
  })

  test('an agent that has failed, rejected or thrown says so with status 200, and the caller gets its kind', async () => {
    expect(await ask(binding, 'a2a:rejected')).toMatchObject({ status: 400, reason: 'agent_rejected_input' })
    expect(await ask(binding, 'a2a:throws')).toMatchObject({ status: 502, reason: 'agent_error' })
    expect(await ask(`${binding}-brief`, 'a2a:stops-short Hello')).toMatchObject({
      status: 504,
      reason: 'agent_timeout',
    })
  })

  test('a client that leaves cancels the task, also of an agent that does not listen', async () => {
    for (const word of ['', 'a2a:deaf ']) {
      const query = `${word}sandbox:slow=20 sandbox:long=200 ${randomUUID()}`
      const leaving = new AbortController()
      const response = await api.chat(key, binding, { query, stream: true }, { signal: leaving.signal })
      await readerOf(response).until(/网关/)
      leaving.abort()
      await cancelled(query)
    }
  })

  test('a kept call goes on when its client is gone, and is cancelled when it is stopped', async () => {
    const query = `sandbox:slow=20 sandbox:long=10000 ${randomUUID()}`
    const headers = { 'idempotency-key': randomUUID() }
    const leaving = new AbortController()
    const response = await api.chat(
      key,
      binding,
      { query, stream: true },
      { headers, signal: leaving.signal },
    )
    await readerOf(response).until(/网关/)
    const callId = response.headers.get('x-call-id') ?? ''
    leaving.abort()
    const resumed = await fetch(`${gateway.url}/api/v1/calls/${callId}/stream`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await readerOf(resumed).until(/网关[\s\S]{5000}/)
    expect(runOf(query)?.state).toBe('running')
    expect((await api.call('POST', `/api/v1/calls/${callId}/stop`, { token: key })).status).toBeLessThan(300)
    await cancelled(query)
  })
})

const runOf = (query: string) => a2a.agent.seen.runs.find((run) => run.query === query)

async function cancelled(query: string): Promise<void> {
  await a2a.agent.seen.waitFor(({ stops }) => {
    const run = runOf(query)
    return run !== undefined && stops.some(({ runId }) => runId === run.id)
  })
}

describe('a card is untrusted', () => {
  test.each(HOSTILE)(
    '%s fails the call before anything was sent, twice on every face, and no key leaves',
    async (agent, answer) => {
      cards.answer = answer
      for (const _try of [1, 2]) {
        const rest = await ask(agent, 'Hello')
        expect([rest.status, rest.reason]).toEqual([
          502,
          expect.stringMatching(/^agent_(?:misconfigured|malformed)$/),
        ])
        const openai = await api.call('POST', '/api/v1/chat/completions', {
          token: key,
          body: { model: agent, messages: [{ role: 'user', content: 'Hello' }] },
        })
        expect([openai.status, openai.body.error.code]).toEqual([502, rest.reason])
        const graphql = await api.call('POST', '/graphql', {
          token: key,
          body: { query: CHAT, variables: { input: { agentId: agent, query: 'Hello' } } },
        })
        expect(graphql.body.errors[0].extensions.code).toBe(rest.reason)
      }
      // What the server has answered is kept for five seconds, so that not every call asks again.
      expect(cards.seen.map(({ path }) => path)).toEqual([`/${agent}${CARD_PATH}`])
      expect(stranger.seen).toEqual([])
    },
  )

  test('one at another origin than the agent is read without the key', async () => {
    cards.answer = json(cardFor(`${a2a.agent.baseUrl}/rest`))
    expect(await ask('elsewhere', 'sandbox:echo Hello')).toMatchObject({ status: 200 })
    expect(cards.seen).toEqual([{ path: '/card.json', authorization: undefined }])
  })

  test('one may lead to an origin that the entry lists, which gets the key', async () => {
    cards.answer = json(cardFor(`${a2a.agent.baseUrl}/rest`))
    expect(await ask('listed', 'sandbox:echo Hello')).toMatchObject({ status: 200 })
    expect(cards.seen).toEqual([{ path: CARD_PATH, authorization: `Bearer ${KEY}` }])
  })

  test('one whose server says nothing fails the call in the time of a first byte', async () => {
    cards.answer = () => undefined
    expect(await ask('stuck', 'Hello')).toMatchObject({ status: 504, reason: 'agent_timeout' })
  })

  test('one that is out of date is read anew, and the call goes where the new one says', async () => {
    // The agent has moved: where its card still says that it is, there is nothing.
    let place = `${cards.origin}/former`
    cards.answer = (response, { method }) => {
      if (method === 'GET') json(cardFor(place))(response)
      else response.writeHead(404).end()
    }
    expect(await ask('outdated', 'Hello')).toMatchObject({ status: 502, reason: 'agent_misconfigured' })
    place = `${a2a.agent.baseUrl}/rest`
    await until(
      'the card is read anew',
      async () => (await ask('outdated', 'sandbox:echo Hello')).status === 200,
    )
    expect(cards.seen.filter(({ path }) => path === '/outdated.json')).toHaveLength(2)
  })
})

// The last one, because the list reads the cards of all agents, and what was read is kept for five seconds at least.
test('the list of agents says that an agent of which only the address and a key are known is available', async () => {
  const { body } = await api.call('GET', '/api/v1/agents', { token: key })
  const { items } = body.data
  expect(items.find(({ id }: { id: string }) => id === 'alone')).toMatchObject({
    platform: 'a2a',
    status: 'available',
  })
})
