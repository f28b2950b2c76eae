import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM, follow, type GraphqlResult, graphql, sendGraphql } from '../support/graphql.ts'
import { readerOf } from '../support/stream.ts'

// A process, because chats go on when their connections are cut, and are followed over others.

/** Each kind of reply, and each platform. */
const CHATS = [
  ['fastgpt', 'sandbox:interactive Hello'],
  ['openai', 'sandbox:truncate Hello'],
  ['dify', 'sandbox:replace Hello'],
  ['coze', 'Hello'],
  ['hiagent', 'sandbox:truncate Hello'],
] as const

const DETAIL =
  '... on Detail { stepId name status raw } ... on ToolCall { arguments } ... on Sources { items { title text } }'
const ITEM = `{ __typename
  ... on ChatStarted { callId conversationId sequence }
  ... on ChatText { text sequence }
  ... on ChatTextReplaced { text sequence }
  ... on ChatFinished { model finishReason usage { totalTokens } sequence }
  ... on Detail { sequence } ${DETAIL}
}`
const CHAT = `subscription ($input: ChatInput!) { chat(input: $input) ${ITEM} }`
const RESUMED = `subscription ($callId: ID!, $after: Int!) { chatResumed(callId: $callId, after: $after) ${ITEM} }`
const REPLY = `mutation ($input: ChatInput!) { chat(input: $input) {
  callId conversationId createdAt text model finishReason usage { totalTokens } details { __typename ${DETAIL} }
} }`
const STOP = 'mutation ($input: StopCallInput!) { stopCall(input: $input) { callId outcome } }'

let system: GatewayWithSandbox
let keys = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system?.remove())

// biome-ignore lint/suspicious/noExplicitAny: results have the shape of their documents
type Any = any

function inputOf(query: string, agentId = 'openai') {
  keys += 1
  const appId = agentId === 'fastgpt' ? 'app-1' : ''
  const idempotencyKey = `chat ${keys}`
  return { agentId, appId, query, detail: true, conversationId: `conversation-${keys}`, idempotencyKey }
}

const as = () => ({ as: system.key })
const itemOf = ({ data }: Pick<GraphqlResult, 'data'>) => data?.chat ?? data?.chatResumed ?? null
const codesOf = (results: readonly GraphqlResult[]) =>
  results.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code))
const runsOf = (agent: keyof GatewayWithSandbox['sandbox']['agents']) =>
  system.sandbox.agents[agent].seen.runs

/** What is left of an item without what differs between two chats. */
function common(results: readonly GraphqlResult[]) {
  return results.map((result) => {
    const item = itemOf(result)
    if (item === null) return result.errors?.map(({ extensions: { code, status } }) => [code, status])
    const { callId: _callId, conversationId: _conversationId, sequence: _sequence, ...rest } = item
    return rest
  })
}

test.each(CHATS)(
  '%s, %s: the items of a kept chat are those of another one, with numbers',
  async (platform, query) => {
    const { idempotencyKey, ...input } = inputOf(query, platform)
    const other = { ...input, conversationId: `${input.conversationId}-other` }
    const plain = await follow(system.gateway, CHAT, { variables: { input: other }, ...as() })
    const variables = { input: { ...input, idempotencyKey } }
    const kept = await follow(system.gateway, CHAT, { variables, ...as() })
    expect(kept.isComplete).toBe(true)
    // Without their ids in the platform, which are new in each run.
    const texts = [plain, kept].map(({ results }) =>
      JSON.stringify(common(results)).replace(/"(stepId|raw)":("[^"]*"|null|\{.*?\})/g, ''),
    )
    expect(texts[1]).toBe(texts[0])
    const items = kept.results.map(itemOf).filter((item) => item !== null)
    expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_item, index) => index + 1))

    const repeated = await follow(system.gateway, CHAT, { variables, ...as() })
    const resumed = await follow(system.gateway, RESUMED, {
      variables: { callId: items[0].callId, after: 0 },
      ...as(),
    })
    for (const { results } of [repeated, resumed]) {
      expect(results.map(itemOf)).toEqual(kept.results.map(itemOf))
      expect(codesOf(results)).toEqual(codesOf(kept.results))
    }
  },
)

test('a repeated mutation equals the first, and runs nothing', async () => {
  const request = { variables: { input: inputOf('Hello', 'fastgpt') }, ...as() }
  const first = await graphql(system.gateway, REPLY, request)
  expect(first.data.chat.details.length).toBeGreaterThan(0)
  const runs = runsOf('fastgpt').length
  expect(await graphql(system.gateway, REPLY, request)).toEqual(first)
  expect(runsOf('fastgpt').length).toBe(runs)
})

test('a chat that is cut after each item and resumed has the same items, and runs once', async () => {
  const client = createClient({
    url: `${system.gateway.url}/graphql`,
    headers: { authorization: `Bearer ${system.key}` },
    retryAttempts: 0,
  })
  const runs = runsOf('openai').length
  const input = inputOf('sandbox:slow=10 sandbox:long=20 Hello')
  const items: Any[] = []
  for (let isFinished = false; !isFinished; ) {
    const last = items.at(-1)?.sequence ?? 0
    const resumed = { callId: `key:${input.idempotencyKey}`, after: last }
    const operation =
      last === 0 ? { query: CHAT, variables: { input } } : { query: RESUMED, variables: resumed }
    for await (const result of client.iterate<Record<string, Any>>(operation)) {
      items.push(itemOf(result))
      break
    }
    isFinished = items.at(-1).__typename === 'ChatFinished'
  }
  client.dispose()
  const { results } = await follow(system.gateway, CHAT, { variables: { input }, ...as() })
  expect(items).toEqual(results.map(itemOf))
  expect(items.length).toBeGreaterThan(10)
  expect(runsOf('openai').length).toBe(runs + 1)
  expect(runsOf('openai').at(-1)?.state).toBe('finished')
})

test('leaving a mutation stops nothing, and its repetition waits for the same reply', async () => {
  const runs = runsOf('openai').length
  const request = { variables: { input: inputOf('sandbox:slow=20 sandbox:long=30 Hello') }, ...as() }
  const leave = new AbortController()
  const left = sendGraphql(system.gateway, REPLY, { ...request, signal: leave.signal })
  const gone = expect(left).rejects.toThrow('aborted')
  await system.sandbox.agents.openai.seen.waitFor((seen) => seen.runs.length > runs)
  leave.abort()
  await gone
  const { data } = await graphql(system.gateway, REPLY, request)
  expect(data.chat.text.length).toBeGreaterThan(30)
  expect(runsOf('openai').length).toBe(runs + 1)
})

test('a chat that is stopped ends with that, for all who follow it and for those who repeat it', async () => {
  const input = inputOf('sandbox:slow=50 sandbox:long=1000 Hello')
  const request = { variables: { input }, ...as(), headers: EVENT_STREAM }
  const reader = readerOf(await sendGraphql(system.gateway, CHAT, request))
  await reader.until(/ChatText/)
  const variables = { input: { callId: `key:${input.idempotencyKey}` } }
  const stop = await graphql(system.gateway, STOP, { variables, ...as() })
  expect(stop.data.stopCall).toEqual({ callId: expect.any(String), outcome: null })
  expect(await reader.rest()).toMatch(/"code":"stopped".*\n\nevent: complete/)
  await system.sandbox.agents.openai.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
  const again = await graphql(system.gateway, STOP, { variables, ...as() })
  expect(again.data.stopCall).toEqual({ ...stop.data.stopCall, outcome: 'CLIENT_GONE' })
  const { results } = await follow(system.gateway, CHAT, request)
  expect(codesOf(results)).toEqual(['stopped'])
})
