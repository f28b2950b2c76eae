import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectedOutcome, type Outcome, outcomeOf } from '../support/chat-stream-outcome.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because the streams are the bytes that a gateway sends, in every scenario of every platform.

/** The sandbox's README is the list of its scenarios, so that a new one is tested without being named here. */
const README = readFileSync(join(import.meta.dirname, '../../packages/sandbox/README.md'), 'utf8')
const WORDS = Array.from(README.matchAll(/^\| `(sandbox:[a-z0-9-]+)` /gm), ([, word = '']) => word)
const KINDS = Array.from(README.matchAll(/^\| `([a-z-]+)` +\|/gm), ([, kind = '']) => kind)
/** Values where the default would take long. */
const VALUES: Readonly<Record<string, string>> = {
  'sandbox:slow-first': '=50',
  'sandbox:slow': '=5',
  'sandbox:pings': '=50',
  'sandbox:error': `=${KINDS[0]}`,
}
const SCENARIOS = [
  'Hello 你好 🎉',
  ...WORDS.map((word) =>
    word === 'sandbox:echo' ? `${word} é\r\n中🎉\u2028` : `${word}${VALUES[word] ?? ''} Hello`,
  ),
]
const PLATFORMS = ['fastgpt', 'openai', 'dify', 'coze', 'hiagent'] as const

/** A short stream is cut at every byte; a longer one in this many places. */
const CUTS_MAX = process.env.SOAK ? 5_000 : 20

let system: GatewayWithSandbox
let conversations = 0

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  system = await startGatewayWithSandbox({
    entry: { timeouts: { firstByteMs: 300, idleMs: 300 } },
    // A failure after the headers is an event of the stream, also if the agent fails at once.
    settings: { chat: { headerHoldMs: 10, keepAliveMs: 20 } },
  })
})
afterAll(() => system?.remove())

test('the list of scenarios is found', () => {
  expect(WORDS.length).toBeGreaterThan(20)
  expect(KINDS.length).toBeGreaterThan(5)
})

describe.concurrent.each(PLATFORMS)('the streams of %s', (agent) => {
  test.concurrent.each(SCENARIOS)('%s: read as the openai package reads it, cut anywhere', async (query) => {
    const response = await record(agent, query)
    if (!response.ok) {
      // The scenario is refused before the stream, which is an error of its status.
      expect(response.status).toBeGreaterThanOrEqual(400)
      return
    }
    const whole = new Uint8Array(await response.arrayBuffer())
    const expected = await expectedOutcome([whole])
    expect(expected.end).not.toBe('malformed')
    expect(await outcomeOf([whole])).toEqual(expected)
    for (let at = 1; at < whole.length; at += Math.ceil(whole.length / CUTS_MAX)) {
      const pieces = [whole.subarray(0, at), whole.subarray(at)]
      expect(brief(await outcomeOf(pieces)), `cut at ${at}`).toEqual(brief(expected))
    }
  })
})

function record(agent: string, query: string): Promise<Response> {
  conversations += 1
  const id = `conversation-${conversations}`
  const appId = agent === 'fastgpt' ? 'app-1' : ''
  const more = { stream: true, detail: true, query, chat_id: id, conversation_id: id, app_id: appId }
  return system.api.chat(system.key, agent, more)
}

/** Comparing thousands of long replies as text costs a tenth of comparing them as objects. */
const brief = ({ chunks, end }: Outcome) => JSON.stringify({ chunks, end })
