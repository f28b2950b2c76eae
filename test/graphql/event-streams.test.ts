import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM, follow, graphql, resultsOf, sendGraphql } from '../support/graphql.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because the graphql-sse client shares and closes connections, and a drain ends what they carry.

const CHAT = `subscription ($input: ChatInput!) { chat(input: $input) {
  __typename ... on ChatStarted { callId } ... on ChatText { text }
} }`
const REPLY = 'mutation ($input: ChatInput!) { chat(input: $input) { text } }'

let system: GatewayWithSandbox
let calls = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    settings: { chat: { keepAliveMs: 100 }, drain: { timeoutMs: 1_500 } },
  })
})
afterAll(() => system?.remove())

function variablesOf(query: string, agentId = 'dify') {
  calls += 1
  return { input: { agentId, query, conversationId: `conversation-${calls}` } }
}

function clientOf(credential = system.key) {
  return createClient({
    url: `${system.gateway.url}/graphql`,
    headers: { authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  })
}

// biome-ignore lint/suspicious/noExplicitAny: results have the shape of their documents
type Any = any

async function openSubscriptions(): Promise<number> {
  const { body } = await system.api.call('GET', '/metrics')
  return Number(/^trunkline_graphql_subscriptions (\d+)$/m.exec(body)?.[1])
}

const allEnded = () => until('no subscription is open', async () => (await openSubscriptions()) === 0)

async function outcomesOf(agent: string, count: number): Promise<string[]> {
  const { body } = await system.api.call('GET', `/api/v1/calls?limit=100`, { token: system.token })
  return body.data.items
    .filter((item: Any) => item.agent === agent)
    .slice(0, count)
    .map(({ outcome }: Any) => outcome)
}

describe('the graphql-sse client', () => {
  test('follows a chat to its end, and a failed one to its error', async () => {
    const client = clientOf()
    const texts: string[] = []
    const types = new Set<string>()
    for await (const { data } of client.iterate<Any>({ query: CHAT, variables: variablesOf('Hello') })) {
      types.add(data?.chat.__typename)
      texts.push(data?.chat.text ?? '')
    }
    expect([...types]).toEqual(['ChatStarted', 'ChatText', 'ChatFinished'])
    const whole = await graphql(system.gateway, REPLY, { variables: variablesOf('Hello'), as: system.key })
    expect(texts.join('')).toBe(whole.data.chat.text)

    const results: Any[] = []
    const failing = variablesOf('sandbox:error-midstream Hello')
    for await (const result of client.iterate<Any>({ query: CHAT, variables: failing })) results.push(result)
    expect(results.length).toBeGreaterThan(2)
    const last = results.at(-1)
    expect([last.data.chat, last.errors[0].path, last.errors[0].extensions]).toEqual([
      null,
      ['chat'],
      { code: 'agent_error', status: 502, requestId: expect.any(String) },
    ])
    client.dispose()
    await allEnded()
  })

  test('runs several operations at once, and gets what is wrong with one as its result', async () => {
    const client = clientOf()
    const ask = async (query: string, variables?: Record<string, unknown>) => {
      const results: Any[] = []
      const operation = variables === undefined ? { query } : { query, variables }
      for await (const result of client.iterate<Any>(operation)) results.push(result)
      return results.at(-1)
    }
    const [agents, invalid, large, first, second] = await Promise.all([
      ask('{ agents { id } }'),
      ask('{ nothing }'),
      ask(`{ ${'__typename '.repeat(2_000)} }`),
      ask(CHAT, variablesOf('Hello')),
      ask(CHAT, variablesOf('Hello', 'coze')),
    ])
    expect(agents.data.agents.length).toBe(5)
    expect(invalid.errors[0].extensions.code).toBe('document_invalid')
    expect(large.errors[0].extensions.code).toBe('operation_too_large')
    for (const { data } of [first, second]) expect(data.chat.__typename).toBe('ChatFinished')
    client.dispose()
    await allEnded()
  })

  test.each([
    ['before the first byte of the platform', 'sandbox:hang Hello', /^ChatStarted$/],
    ['in the middle of the text', 'sandbox:slow=20 sandbox:long Hello', /^ChatText$/],
  ])('leaving %s stops the platform, and the call ends as client_gone', async (_moment, query, seenType) => {
    const { seen } = system.sandbox.agents.openai
    const before = seen.runs.length
    const client = clientOf()
    for await (const { data } of client.iterate<Any>({
      query: CHAT,
      variables: variablesOf(query, 'openai'),
    })) {
      if (!seenType.test(data?.chat.__typename)) continue
      await seen.waitFor(({ runs }) => runs.length > before)
      break
    }
    await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
    await allEnded()
    await until('the end is written', async () => (await outcomesOf('openai', 1))[0] === 'client_gone')
    client.dispose()
  })
})

test('leaving in the middle of a mutation stops the platform', async () => {
  const { seen } = system.sandbox.agents.openai
  const before = seen.runs.length
  const leave = new AbortController()
  const variables = variablesOf('sandbox:slow=20 sandbox:long Hello', 'openai')
  const response = sendGraphql(system.gateway, REPLY, { variables, as: system.key, signal: leave.signal })
  const gone = expect(response).rejects.toThrow('aborted')
  await seen.waitFor(({ runs }) => runs.length > before)
  leave.abort()
  await gone
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
  await until('the end is written', async () => (await outcomesOf('openai', 1))[0] === 'client_gone')
})

test('silence in a stream is filled with comments, as on REST', async () => {
  const variables = variablesOf('sandbox:hang Hello')
  const leave = new AbortController()
  const request = { variables, as: system.key, headers: EVENT_STREAM, signal: leave.signal }
  const response = await sendGraphql(system.gateway, CHAT, request)
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('x-request-id')).toBeTruthy()
  await readerOf(response).until(/(?:: keep-alive\n\n){2}/)
  leave.abort()
  await allEnded()
})

test('a refused chat is one result with an error, and the stream is complete', async () => {
  for (const [as, query, code] of [
    [undefined, 'Hello', 'credential_missing'],
    [system.token, 'Hello', 'api_key_required'],
    [`${system.key.slice(0, -1)}!`, 'Hello', 'credential_malformed'],
    [system.key, ' ', 'invalid_request'],
  ] as const) {
    const request = { variables: variablesOf(query), ...(as !== undefined && { as }) }
    const { results, isComplete } = await follow(system.gateway, CHAT, request)
    expect(results.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([code])
    expect(isComplete).toBe(true)
  }
})

test('a client that cannot take a stream is told so before its chat begins', async () => {
  const before = (await outcomesOf('dify', 100)).length
  for (const accept of ['application/json', 'application/graphql-response+json', 'text/html']) {
    const request = { variables: variablesOf('Hello'), as: system.key, headers: { accept } }
    const { errors } = (await (await sendGraphql(system.gateway, CHAT, request)).json()) as Any
    expect(errors[0].extensions).toMatchObject({ code: 'not_acceptable', status: 406 })
  }
  expect((await outcomesOf('dify', 100)).length).toBe(before)
})

test('a process that drains ends a chat that takes too long with an error, and then exits with 0', async () => {
  const { full_key: key } = await system.api.createKey(system.token)
  const request = { variables: variablesOf('sandbox:hang Hello'), as: key, headers: EVENT_STREAM }
  const reader = readerOf(await sendGraphql(system.gateway, CHAT, request))
  await reader.until(/ChatStarted/)
  const stopped = system.gateway.stop()
  const { results, isComplete } = resultsOf(await reader.rest())
  expect(results.at(-1)?.errors?.[0]?.extensions).toEqual({
    code: 'draining',
    status: 503,
    requestId: expect.any(String),
    retryAfterSeconds: 1,
  })
  expect(isComplete).toBe(true)
  expect(await stopped).toBe(0)
  await system.gateway.start()
})
