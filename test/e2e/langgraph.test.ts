import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningLangGraphAgent, startLangGraphAgent } from '../agents/langgraph/agent.ts'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { follow } from '../support/graphql.ts'
import { framesOf, readerOf } from '../support/stream.ts'

// A process, because a client leaves by closing its socket, and LangGraph's own server must see the run end.

let langgraph: RunningLangGraphAgent
let gateway: TestGateway
let api: Api
let key: string

beforeAll(async () => {
  langgraph = await startLangGraphAgent({ delayMs: 0 })
  const { baseUrl, apiKey } = langgraph.agent
  const plain = { platform: 'langgraph', baseUrl, apiKey, breaker: false }
  gateway = await startGateway({
    config: JSON.stringify({
      limits: { chat: { points: 100_000 } },
      agents: {
        plain,
        planned: { ...plain, node: 'agent' },
        approving: { ...plain, assistantId: 'approving' },
        apps: { ...plain, apps: { agent: {}, other: { assistantId: 'second' } } },
        missing: { ...plain, assistantId: 'nobody' },
        refused: { ...plain, apiKey: 'wrong' },
      },
    }),
  })
  api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway?.remove()
  await langgraph?.close()
})

async function ask(agent: string, query: string, more: object = {}) {
  const response = await api.chat(key, agent, { query, ...more })
  // biome-ignore lint/suspicious/noExplicitAny: replies are read as they come
  const body: any = await response.json()
  return { status: response.status, reason: body.reason, body, text: body.choices?.[0]?.message.content }
}
const callsOf = (query: string) => langgraph.model.calls.filter((call) => call.query === query)
/** Resolves when the model's work for a query has ended in this way. */
const modelIs = (query: string, state: string) =>
  langgraph.agent.seen.waitFor(() => callsOf(query).some((call) => call.state === state))

describe('the answer', () => {
  test.each([
    ['comes from a graph within the graph', 'langgraph:subgraph'],
    ['was not sent in pieces', 'langgraph:whole'],
    ['consists of parts', 'langgraph:parts'],
    ['follows the result of a tool', 'langgraph:tool'],
    ['follows a plan of another node, which the last message replaces', 'langgraph:plan'],
  ])('is whole where it %s', async (_name, word) => {
    expect(await ask('plain', `${word} sandbox:echo one two three`)).toMatchObject({
      status: 200,
      text: 'one two three',
    })
  })

  test('is that of the named node alone in a stream as well', async () => {
    const query = 'langgraph:plan sandbox:echo one two three'
    const streamed = async (agent: string) => {
      const frames = framesOf(await (await api.chat(key, agent, { query, stream: true })).text())
      return frames.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('')
    }
    expect(await streamed('planned')).toBe('one two three')
    expect(await streamed('plain')).toMatch(/^First I read[\s\S]*\n\none two three$/)
  })

  test('has the calls and results of tools as details', async () => {
    const { body } = await ask('plain', 'langgraph:tool Hello', { detail: true })
    expect(body.detail.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['tool_call', 'tool_result', 'node_finished']),
    )
  })

  test('may have the variables of the request, which the graph gets as fields of its input', async () => {
    const before = langgraph.agent.seen.requests.length
    await ask('plain', 'Hello', { variables: { city: 'Paris', messages: [] } })
    const [request] = langgraph.agent.seen.requests.slice(before)
    expect(request?.body.input).toMatchObject({
      city: 'Paris',
      messages: [{ role: 'user', content: 'Hello' }],
    })
  })
})

test('each app is an assistant, by its id or by the one that it names', async () => {
  const before = langgraph.agent.seen.requests.length
  for (const app_id of ['agent', 'other'])
    expect(await ask('apps', 'Hello', { app_id })).toMatchObject({ status: 200 })
  const assistants = langgraph.agent.seen.requests
    .slice(before)
    .flatMap(({ body }) => body.assistant_id ?? [])
  expect(assistants).toEqual(['agent', 'second'])
})

test('an assistant that does not exist and a wrong key are told as what they are, twice', async () => {
  for (const _try of [1, 2]) {
    expect(await ask('missing', 'Hello')).toMatchObject({ status: 502, reason: 'agent_misconfigured' })
    expect(await ask('refused', 'Hello')).toMatchObject({ status: 502, reason: 'agent_credentials' })
  }
  const { body } = await api.call('GET', '/api/v1/agents', { token: key })
  const statuses = body.data.items.map(({ id, status }: { id: string; status: string }) => [id, status])
  expect(Object.fromEntries(statuses)).toMatchObject({ plain: 'available', refused: 'degraded' })
})

describe("an agent of LangChain's, whose tool must be approved", () => {
  test.each([
    ['approve', /It is sunny|You asked/],
    ['reject', /./],
  ])('goes on where it was told to: %s', async (option, text) => {
    const conversation = randomUUID()
    const named = { chat_id: conversation, conversation_id: conversation }
    const asked = await ask('approving', 'What is the weather?', named)
    expect(asked).toMatchObject({
      status: 200,
      body: { pause: { question: expect.stringMatching(/weather/) } },
    })
    const { id, options } = asked.body.pause
    expect(options.map((each: { id: string }) => each.id)).toEqual(
      expect.arrayContaining(['approve', 'reject']),
    )
    const answered = await ask('approving', '', { ...named, answer: { pause: id, option } })
    expect(answered).toMatchObject({ status: 200, text: expect.stringMatching(text) })
    expect(answered.body.pause).toBeUndefined()
    // The history of the thread is whole, so that the next question is one again.
    expect((await ask('approving', 'And now?', named)).body.pause).toMatchObject({
      question: expect.stringMatching(/weather/),
    })
  })
})

describe('a graph that fails', () => {
  test.each([
    ['before any text', 'sandbox:error-first Hello'],
    ['because its model is cut amid the answer', 'sandbox:error-midstream Hello'],
    ['in a node after the answer', 'sandbox:node-failed Hello'],
    ['because it goes round in a circle', 'langgraph:circle Hello'],
  ])('%s is agent_error', async (_name, query) => {
    expect(await ask('plain', query)).toMatchObject({ status: 502, reason: 'agent_error' })
  })

  test('because somebody else has cancelled its run is agent_truncated', async () => {
    const query = `sandbox:slow=20 sandbox:long=10000 ${randomUUID()}`
    const reply = ask('plain', query)
    const run = await langgraph.agent.seen.waitFor(({ runs }) => runs.find((each) => each.query === query))
    await modelIs(query, 'running')
    const { baseUrl, apiKey } = langgraph.agent
    await fetch(`${baseUrl}/threads/${run.conversationId}/runs/${run.id}/cancel?action=interrupt`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
    })
    expect(await reply).toMatchObject({ status: 502, reason: 'agent_truncated' })
  })
})

test('a client that leaves stops the run and its model', async () => {
  for (let round = 0; round < 5; round += 1) {
    const query = `sandbox:slow=20 sandbox:long=10000 ${randomUUID()}`
    const leaving = new AbortController()
    const response = await api.chat(key, 'plain', { query, stream: true }, { signal: leaving.signal })
    await readerOf(response).until(/网关/)
    leaving.abort()
    await modelIs(query, 'left')
    const { seen } = langgraph.agent
    await seen.waitFor(({ stops, runs }) =>
      stops.some(({ runId }) => runId === runs.find((run) => run.query === query)?.id),
    )
  }
})

test('a kept call goes on when its client is gone, and its run ends when it is stopped', async () => {
  const query = `sandbox:slow=20 sandbox:long=10000 ${randomUUID()}`
  const headers = { 'idempotency-key': randomUUID() }
  const leaving = new AbortController()
  const response = await api.chat(key, 'plain', { query, stream: true }, { headers, signal: leaving.signal })
  await readerOf(response).until(/网关/)
  const callId = response.headers.get('x-call-id') ?? ''
  leaving.abort()
  const resumed = await fetch(`${gateway.url}/api/v1/calls/${callId}/stream`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await readerOf(resumed).until(/网关[\s\S]{5000}/)
  expect(callsOf(query).map(({ state }) => state)).toEqual(['running'])
  const [request] = langgraph.agent.seen.requests.filter(({ body }) => JSON.stringify(body).includes(query))
  expect(request?.body.on_disconnect).toBe('continue')
  expect((await api.call('POST', `/api/v1/calls/${callId}/stop`, { token: key })).status).toBeLessThan(300)
  await modelIs(query, 'left')
})

test('a thread that the server has lost is conversation_not_found, twice on every face, and never begins anew', async () => {
  const openLost = async (): Promise<string> => {
    const conversation = randomUUID()
    const query = `Hello ${randomUUID()}`
    expect(await ask('plain', query, { chat_id: conversation, conversation_id: conversation })).toMatchObject(
      { status: 200 },
    )
    const { baseUrl, apiKey, seen } = langgraph.agent
    const { path = '' } = seen.requests.find(({ body }) => JSON.stringify(body).includes(query)) ?? {}
    const url = `${baseUrl}/threads/${/threads\/([^/]+)/.exec(path)?.[1]}`
    expect((await fetch(url, { method: 'DELETE', headers: { 'x-api-key': apiKey } })).status).toBe(204)
    return conversation
  }
  const conversation = await openLost()
  const again = 'Hello again'
  const reasonOn = {
    rest: async (stream: boolean) =>
      (await ask('plain', again, { stream, chat_id: conversation, conversation_id: conversation })).reason,
    openai: async (stream: boolean) => {
      const messages = [{ role: 'user', content: again }]
      const { body } = await api.call('POST', '/api/v1/chat/completions', {
        ...{ token: key, headers: { 'x-conversation-id': conversation } },
        body: { model: 'plain', stream, messages },
      })
      return body.error.code
    },
    responses: async (stream: boolean) => {
      const { body } = await api.call('POST', '/api/v1/responses', {
        ...{ token: key, body: { model: 'plain', stream, input: again, conversation } },
      })
      return body.error.code
    },
    graphql: async () => {
      const document = 'subscription ($input: ChatInput!) { chat(input: $input) { __typename } }'
      const variables = { input: { agentId: 'plain', query: again, conversationId: conversation } }
      const { results } = await follow(gateway, document, { as: key, variables })
      return /conversation_not_found/.exec(JSON.stringify(results))?.[0] ?? results
    },
  }
  for (const [face, reason] of Object.entries(reasonOn)) {
    for (const stream of [false, true]) {
      for (const _try of [1, 2])
        expect([face, stream, await reason(stream)]).toEqual([face, stream, 'conversation_not_found'])
    }
  }
  // A first call that the platform has not taken leaves the name free.
  const fresh = randomUUID()
  const named = { chat_id: fresh, conversation_id: fresh }
  expect(await ask('refused', 'Hello', named)).toMatchObject({ status: 502 })
  expect(await ask('plain', 'Hello', named)).toMatchObject({ status: 200 })
})
