import { ERROR_KINDS, type ErrorKind } from '@trunkline/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type GatewayWithSandbox,
  SUCCESSES,
  startGatewayWithSandbox,
} from '../support/gateway-with-sandbox.ts'
import { contentOf, payloadsOf } from '../support/stream.ts'

// A process, because every way in which a platform fails over its connection must arrive at the client and in the ledger.

const HOLD_MS = 2_000
const PLATFORMS = ['fastgpt', 'openai', 'dify', 'coze', 'hiagent'] as const

type Refusals = Readonly<Record<ErrorKind, readonly [status: number, reason: string]>>

const REFUSALS: Refusals = {
  credentials: [502, 'agent_credentials'],
  quota: [502, 'agent_quota'],
  'rate-limit': [429, 'agent_rate_limited'],
  busy: [409, 'conversation_busy'],
  'not-found': [404, 'conversation_not_found'],
  'app-not-found': [404, 'app_not_found'],
  rejected: [400, 'agent_rejected_input'],
  filtered: [400, 'content_filtered'],
  misconfigured: [502, 'agent_misconfigured'],
  server: [502, 'agent_error'],
}

/** Exceptions: platforms that report this error as another kind, or not at all. */
const OTHERWISE: Readonly<Record<string, Partial<Refusals>>> = {
  openai: {
    busy: [429, 'agent_rate_limited'],
    'not-found': [502, 'agent_misconfigured'],
    'app-not-found': [502, 'agent_misconfigured'],
  },
  dify: {
    busy: [404, 'conversation_not_found'],
    'app-not-found': [502, 'agent_misconfigured'],
  },
}

let system: GatewayWithSandbox
/** The expected entries of the ledger, by call. */
const expected = new Map<string, string>()

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    entry: { timeouts: { firstByteMs: 600, idleMs: 600 } },
    agents: ({ openai }) => ({
      patient: { ...openai, timeouts: {} },
      unreachable: { ...openai, baseUrl: 'http://127.0.0.1:1/v1' },
    }),
    settings: { chat: { headerHoldMs: HOLD_MS, keepAliveMs: 30, replyBytesMax: 1 << 16 } },
  })
})
afterAll(() => system.remove())

let conversationCount = 0

async function ask(agent: string, stream: boolean, query: string) {
  conversationCount += 1
  const id = `conversation-${conversationCount}`
  const more = { stream, query, chat_id: id, conversation_id: id, app_id: agent === 'fastgpt' ? 'app-1' : '' }
  const response = await system.api.chat(system.key, agent, more)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}

type Answer = Awaited<ReturnType<typeof ask>>

function settles({ headers }: Answer, outcome: string, reason: string): void {
  expected.set(headers.get('x-call-id') ?? 'no call', `${outcome} ${reason}`.trim())
}

/** An ordinary error response. */
function expectRefusal(answer: Answer, status: number, reason: string): void {
  const body = JSON.parse(answer.text)
  expect([answer.status, body.code, body.reason]).toEqual([status, status, reason])
  expect(answer.headers.get('content-type')).toContain('application/json')
  // 4xx is a fault of the caller.
  const outcome = status === 504 ? 'timeout' : status < 500 ? 'rejected' : 'upstream_error'
  settles(answer, outcome, reason)
}

/** A stream that failed after it had begun. */
function expectErrorFrame(answer: Answer, reason: string): void {
  expect(answer.status).toBe(200)
  const payloads = payloadsOf(answer.text)
  expect(JSON.parse(payloads.at(-1) ?? '')).toMatchObject({ error: { code: reason, param: null } })
  expect(answer.text).not.toMatch(/\[DONE\]|"finish_reason":"/)
  settles(answer, reason === 'agent_timeout' ? 'timeout' : 'upstream_error', reason)
}

describe.each(PLATFORMS)('%s', (platform) => {
  const refusals = { ...REFUSALS, ...OTHERWISE[platform] }
  beforeEach(() => system.succeed(platform))

  test.each(Object.keys(ERROR_KINDS) as ErrorKind[])('rejects a call with %s', async (kind) => {
    for (const stream of [true, false]) {
      expectRefusal(await ask(platform, stream, `sandbox:error=${kind} Hello`), ...refusals[kind])
    }
  })

  test.each([
    ['html', 502, 'agent_error'],
    ['html-200', 502, 'agent_error'],
    ['hang', 504, 'agent_timeout'],
    ['pings=50', 504, 'agent_timeout'],
  ])('sandbox:%s is an ordinary error response', async (word, status, reason) => {
    const query = `sandbox:${word} Hello`
    for (const answer of await Promise.all([ask(platform, true, query), ask(platform, false, query)])) {
      expectRefusal(answer, status, reason)
    }
  })

  test.each([
    ['reset', 'agent_truncated'],
    ['truncate', 'agent_truncated'],
    ['malformed', 'agent_malformed'],
    ['endless-line', 'agent_malformed'],
    ['silence', 'agent_timeout'],
    ['error-midstream', 'agent_error'],
  ])(
    'sandbox:%s after some text ends the stream with an error frame, unless the platform keeps the rest',
    async (word, reason) => {
      const streamed = await ask(platform, true, `sandbox:${word} Hello`)
      expect(contentOf(streamed.text)).toMatch(/^Hello/)
      // Dify keeps the answer of a run whose connection was lost, so it is whole.
      if (platform === 'dify' && reason === 'agent_truncated') {
        expect(payloadsOf(streamed.text).at(-1)).toBe('[DONE]')
        settles(streamed, 'done', '')
      } else expectErrorFrame(streamed, reason)
    },
  )
})

test('a reply without text is an error, except for openai agents, which may return tool calls alone', async () => {
  for (const stream of [true, false]) {
    for (const platform of ['fastgpt', 'dify', 'coze', 'hiagent']) {
      expectRefusal(await ask(platform, stream, 'sandbox:empty Hello'), 502, 'agent_empty_reply')
    }
    const empty = await ask('openai', stream, 'sandbox:empty Hello')
    expect(empty.text).toContain('"finish_reason":"stop"')
    settles(empty, 'done', '')
  }
})

test.each([
  ['reset', 502, 'agent_truncated'],
  ['truncate', 502, 'agent_malformed'],
  ['endless-line', 502, 'agent_malformed'],
  ['silence', 504, 'agent_timeout'],
  ['error-midstream', 502, 'agent_error'],
])('sandbox:%s in a JSON reply is an ordinary error response', async (word, status, reason) => {
  for (const agent of ['openai', 'fastgpt']) await system.succeed(agent)
  expectRefusal(await ask('openai', false, `sandbox:${word} Hello`), status, reason)
  // The gateway always requests a stream from FastGPT, so a missing end can be detected even for a JSON reply.
  const ofStream = word === 'truncate' ? 'agent_truncated' : reason
  expectRefusal(await ask('fastgpt', false, `sandbox:${word} Hello`), status, ofStream)
})

test('a JSON reply that exceeds its maximum size is rejected', async () => {
  for (const platform of ['openai', 'fastgpt']) {
    const answer = await ask(platform, false, 'sandbox:long=20000 Hello')
    expectRefusal(answer, 502, 'agent_malformed')
  }
})

test('a platform that does not listen is reported as unreachable, and the call may be retried', async () => {
  for (const stream of [true, false]) {
    const answer = await ask('unreachable', stream, 'Hello')
    expectRefusal(answer, 502, 'agent_unreachable')
    expect(answer.headers.get('x-should-retry')).toBe('true')
  }
})

test('a late rejection by the platform is still an ordinary error response', async () => {
  const answer = await ask('patient', true, 'sandbox:slow-first=300 sandbox:html Hello')
  expectRefusal(answer, 502, 'agent_error')
})

test('while a platform takes even longer, the stream carries comments, which readers ignore', async () => {
  const answer = await ask('patient', true, `sandbox:slow-first=${HOLD_MS + 200} sandbox:echo Hello`)
  expect(answer.text).toMatch(/^(?:: keep-alive\n\n){2,}data: /)
  expect(contentOf(answer.text)).toBe('Hello')
  expect(payloadsOf(answer.text).at(-1)).toBe('[DONE]')
  settles(answer, 'done', '')

  const failed = await ask('patient', true, `sandbox:slow-first=${HOLD_MS + 100} sandbox:html Hello`)
  expect(failed.text).toMatch(/^: keep-alive\n\n/)
  expectErrorFrame(failed, 'agent_error')
})

test('the ledger records how each call ended', async () => {
  await system.gateway.stop()
  const rows = await system.gateway.query<{ id: string; end: string }>(
    `SELECT id, concat_ws(' ', outcome, reason) AS end FROM calls WHERE conversation <> '${SUCCESSES}'`,
  )
  expect(new Map(rows.map(({ id, end }) => [id, end]))).toEqual(expected)
})
