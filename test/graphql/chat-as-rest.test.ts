import { ERROR_KINDS } from '@trunkline/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { follow, type GraphqlResult, graphql } from '../support/graphql.ts'
import { payloadsOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because both faces of one running gateway meet the same faults of a platform's connection.

const PLATFORMS = ['fastgpt', 'openai', 'dify', 'coze', 'hiagent'] as const

/** Words that all platforms play alike, with numbers that make them quick, and no word at all. Each is for one of the platforms. */
const COMMON = [
  '',
  'sandbox:slow-first=1',
  'sandbox:slow=1',
  'sandbox:long=40',
  'sandbox:echo',
  'sandbox:empty',
  'sandbox:hang',
  'sandbox:pings=50',
  'sandbox:silence',
  'sandbox:reset',
  'sandbox:truncate',
  'sandbox:malformed',
  'sandbox:endless-line',
  'sandbox:html',
  'sandbox:html-200',
  'sandbox:error-midstream',
  ...Object.keys(ERROR_KINDS).map((kind) => `sandbox:error=${kind}`),
]
/** Words that each platform plays in its own way. */
const OWN = [
  'sandbox:length',
  'sandbox:node-failed',
  'sandbox:interactive',
  'sandbox:replace',
  'sandbox:forget-files',
  'sandbox:multi',
  'sandbox:requires-action',
]
/** What only a time limit ends, at agents whose limits are short: at the others nothing must depend on the machine. */
const ENDLESS = /:(?:hang|pings|silence)/
const agentOf = (platform: string, words: string) => (ENDLESS.test(words) ? `${platform}-hasty` : platform)

const DETAIL_FIELDS = '__typename ... on Detail { name status }'
const FOLLOW = `subscription ($input: ChatInput!) { chat(input: $input) {
  ... on ChatStarted { conversationId }
  ... on ChatText { text }
  ... on ChatTextReplaced { replacement: text }
  ... on ChatFinished { model finishReason usage { promptTokens completionTokens totalTokens } }
  ${DETAIL_FIELDS}
} }`
const REPLY = `mutation ($input: ChatInput!) { chat(input: $input) {
  conversationId text model finishReason usage { promptTokens completionTokens totalTokens }
  details { ${DETAIL_FIELDS} }
} }`

/** What both faces say of a call, in one form. */
interface Reply {
  readonly id: string | undefined
  readonly text: string | undefined
  readonly model: string | undefined
  readonly end: string | undefined
  readonly tokens: readonly number[] | undefined
  readonly details: readonly string[]
  readonly error: string | undefined
  readonly status: number | undefined
}

let system: GatewayWithSandbox
let calls = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    agents: (entries) =>
      Object.fromEntries(
        PLATFORMS.map((platform) => [
          `${platform}-hasty`,
          { ...entries[platform], timeouts: { firstByteMs: 500, idleMs: 500 } },
        ]),
      ),
    settings: {
      limits: { chat: { points: 100_000 }, calls: { points: 100_000 } },
      chat: { headerHoldMs: 4_000, replyBytesMax: 1 << 16 },
    },
  })
})
afterAll(() => system?.remove())

function nextCall() {
  calls += 1
  return { id: `conversation-${calls}`, requestId: `request-${calls}` }
}

const appOf = (agent: string) => (agent.startsWith('fastgpt') ? 'app-1' : '')

async function askRest(agent: string, query: string, stream: boolean) {
  const { id, requestId } = nextCall()
  const more = { stream, query, detail: true, chat_id: id, conversation_id: id, app_id: appOf(agent) }
  const headers = { 'x-request-id': requestId }
  const response = await system.api.chat(system.key, agent, more, { headers })
  const text = await response.text()
  if (response.status !== 200) {
    const { reason } = JSON.parse(text)
    return { id, requestId, reply: { ...NOTHING, error: reason, status: response.status } }
  }
  return { id, requestId, reply: stream ? replyOfChunks(text) : replyOfJson(JSON.parse(text)) }
}

async function askGraphql(agent: string, query: string, stream: boolean) {
  const { id, requestId } = nextCall()
  const input = { agentId: agent, query, detail: true, conversationId: id, appId: appOf(agent) }
  const request = { variables: { input }, as: system.key, headers: { 'x-request-id': requestId } }
  if (!stream) return { id, requestId, reply: replyOfResult(await graphql(system.gateway, REPLY, request)) }
  const { results, isComplete } = await follow(system.gateway, FOLLOW, request)
  expect(isComplete).toBe(true)
  return { id, requestId, reply: replyOfItems(results) }
}

const NOTHING: Reply = {
  id: undefined,
  text: undefined,
  model: undefined,
  end: undefined,
  tokens: undefined,
  details: [],
  error: undefined,
  status: undefined,
}

// biome-ignore lint/suspicious/noExplicitAny: chunks, items and replies are read as they come
type Any = any

const tokensOf = (usage: Any) =>
  usage == null
    ? undefined
    : [
        usage.prompt_tokens ?? usage.promptTokens,
        usage.completion_tokens ?? usage.completionTokens,
        usage.total_tokens ?? usage.totalTokens,
      ]
const TYPES: Readonly<Record<string, string>> = { other: 'OtherDetail', replaced: 'TextReplacement' }
const inPascalCase = (type: string) => type.replace(/(?:^|_)(.)/g, (_all, letter) => letter.toUpperCase())
const detailOf = ({ type, name, status }: Any) =>
  [TYPES[type] ?? inPascalCase(type), name ?? null, status ?? null].join(' ')
const itemOf = ({ __typename, name, status }: Any) => [__typename, name, status].join(' ')

function replyOfChunks(text: string): Reply {
  const payloads = payloadsOf(text)
  const chunks = payloads.filter((payload) => payload !== '[DONE]').map((payload) => JSON.parse(payload))
  const last = chunks.at(-1)
  return {
    id: chunks[0].id,
    text: chunks.map((chunk) => chunk.choices?.[0].delta.content ?? '').join(''),
    model: last.error === undefined ? last.model : undefined,
    end: last.choices?.[0].finish_reason?.toUpperCase(),
    tokens: tokensOf(last.usage),
    details: chunks.flatMap(({ detail }) => (detail === undefined ? [] : [detailOf(detail)])),
    error: last.error?.code,
    status: undefined,
  }
}

function replyOfItems(results: readonly GraphqlResult[]): Reply {
  const items = results.flatMap(({ data }) => (data?.chat == null ? [] : [data.chat]))
  const error = results.at(-1)?.errors?.[0]
  const last = error === undefined ? items.at(-1) : {}
  const texts = items.map((item, index) => {
    // A client that cannot withdraw what it has shown appends a replacement, as REST's streams do.
    if (item.replacement !== undefined) {
      return (items.slice(0, index).some(({ text }) => text) ? '\n\n' : '') + item.replacement
    }
    return item.__typename === 'ChatText' ? item.text : ''
  })
  return {
    id: items[0]?.conversationId,
    text: texts.join(''),
    model: last.model,
    end: last.finishReason,
    tokens: tokensOf(last.usage),
    details: items
      .filter(({ __typename }) => !/^Chat(?:Started|Text|TextReplaced|Finished)$/.test(__typename))
      .map(itemOf),
    error: error?.extensions.code,
    status: error?.extensions.status,
  }
}

function replyOfJson({ id, model, choices, usage, detail }: Any): Reply {
  const [{ message, finish_reason }] = choices
  return {
    ...NOTHING,
    id,
    model,
    text: message.content,
    end: finish_reason.toUpperCase(),
    tokens: tokensOf(usage),
    details: detail.map(detailOf),
  }
}

function replyOfResult({ data, errors }: GraphqlResult): Reply {
  const error = errors?.[0]?.extensions
  if (data?.chat == null) return { ...NOTHING, error: error?.code, status: error?.status }
  const { conversationId: id, text, model, finishReason: end, usage, details } = data.chat
  return { ...NOTHING, id, text, model, end, tokens: tokensOf(usage), details: details.map(itemOf) }
}

/** The parts of a row of the ledger that do not depend on when and through which face the call came. */
async function rowOf(requestId: string) {
  const row = await until(`the row of ${requestId}`, async () => {
    const { body } = await system.api.call('GET', '/api/v1/calls?limit=100', { token: system.token })
    return body.data.items.find((item: Any) => item.request_id === requestId && item.outcome !== null)
  })
  const { id, request_id, face, conversation_id, conversation, ...rest } = row
  const times = /(?:_at|_ms)$/
  return {
    face: face as string,
    rest: Object.fromEntries(
      Object.entries(rest).filter(([name]) => !times.test(name) && !/log_id/.test(name)),
    ),
  }
}

describe.each(PLATFORMS.map((platform, index) => ({ platform, index })))(
  '$platform',
  ({ platform, index }) => {
    // More than the four calls of a test.
    beforeEach(() => system.succeed(platform, 5))

    const ofOne = COMMON.filter((_words, at) => at % PLATFORMS.length === index)
    test.each([...ofOne, ...OWN])('"%s" is the same on REST and GraphQL', async (words) => {
      const query = `${words} Hello`.trim()
      const agent = agentOf(platform, words)
      for (const stream of [true, false]) {
        const [rest, face] = await Promise.all([
          askRest(agent, query, stream),
          askGraphql(agent, query, stream),
        ])
        const [ofRest, ofGraphql] = [rest.reply, face.reply]
        if (ofRest.id !== undefined) expect([ofRest.id, ofGraphql.id]).toEqual([rest.id, face.id])
        // Where REST still has its status to say it with, GraphQL has its first item behind it.
        const isRefused = stream && ofRest.status !== undefined
        expect({ ...ofGraphql, id: undefined }).toEqual({
          ...ofRest,
          id: undefined,
          status: ofGraphql.error === undefined ? undefined : ofGraphql.status,
          ...(isRefused && { text: '' }),
        })
        if (ofRest.status !== undefined) expect(ofGraphql.status).toBe(ofRest.status)
        const [rowOfRest, rowOfGraphql] = [await rowOf(rest.requestId), await rowOf(face.requestId)]
        expect([rowOfRest.face, rowOfGraphql.face]).toEqual(['rest', 'graphql'])
        expect(rowOfGraphql.rest).toEqual(rowOfRest.rest)
      }
    })
  },
)
