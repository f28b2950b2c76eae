import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf, chatBody } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { EVENT_STREAM, resultsOf } from '../support/graphql.ts'
import { payloadsOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because a socket that is not read must hold back the platform, and not fill the memory of the gateway.

const FRAGMENTS = 10_000
const FILLER = 'x'.repeat(8 * 1024)
const MIB = 1024 * 1024
/** Enough for the platform, which lives in this process, to go on when the client reads again on a busy machine. */
const SILENCE_MS = 3_000
const PAUSE_MS = SILENCE_MS + 1_000
/** Two processes of a busy machine move 80 MiB. */
const TEST_TIMEOUT_MS = 180_000

let platform: Server
let gateway: TestGateway
let key: string
let sent = 0

beforeAll(async () => {
  platform = createServer(async (incoming, response) => {
    incoming.resume()
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
    for (sent = 0; sent < FRAGMENTS; sent += 1) {
      const delta = { content: `${sent} ${FILLER}` }
      if (!response.write(event({ choices: [{ delta }] }))) await once(response, 'drain')
    }
    response.end(`${event({ choices: [{ delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`)
  })
  await once(platform.listen(0, '127.0.0.1'), 'listening')
  const { port } = platform.address() as AddressInfo
  const agent = { platform: 'openai', baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm' }
  // A client that reads nothing for longer than idleMs must not count as silence of the platform.
  const timeouts = { firstByteMs: 30_000, idleMs: SILENCE_MS }
  const chat = { streamBytesMax: 2 * FRAGMENTS * FILLER.length }
  gateway = await startGateway({ config: JSON.stringify({ agents: { vllm: { ...agent, timeouts } }, chat }) })
  const api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway.remove()
  platform.closeAllConnections()
  platform.close()
})

async function residentMib(): Promise<number> {
  const metrics = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
  return Number(/^trunkline_process_resident_memory_bytes (\d+)$/m.exec(metrics)?.[1]) / MIB
}

const CHAT = 'subscription { chat(input: { agentId: "vllm", query: "Hello" }) { ... on ChatText { text } } }'

/** Each way to stream a chat: how to begin it, and the texts of what was sent. */
const FACES: readonly [string, () => Promise<IncomingMessage>, (stream: string) => string[]][] = [
  [
    'REST',
    () => open('POST', '/api/v1/chat', { agent: 'vllm' }, chatBody({ stream: true })),
    (stream) => {
      const payloads = payloadsOf(stream)
      expect(payloads.at(-1)).toBe('[DONE]')
      return payloads.slice(0, FRAGMENTS).map((payload) => JSON.parse(payload).choices[0].delta.content)
    },
  ],
  [
    'GraphQL',
    () => open('POST', '/graphql', EVENT_STREAM, { query: CHAT }),
    (stream) => {
      const { results, isComplete } = resultsOf(stream)
      expect(isComplete).toBe(true)
      return results.flatMap(({ data }) => data.chat.text ?? [])
    },
  ],
]

async function open(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): Promise<IncomingMessage> {
  const outgoing = request(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
  })
  outgoing.end(JSON.stringify(body))
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return response
}

test.each(FACES)(
  '%s: a client that stops reading pauses the platform, costs bounded memory, and later reads the rest in order',
  async (_face, start, textsOf) => {
    const before = await residentMib()
    sent = 0
    const response = await start()
    // While nothing is read, the platform stops sending at some point, and pauses for longer than the allowed silence.
    let stood = sent
    let since = performance.now()
    let peak = before
    await until(
      'the platform pauses',
      async () => {
        peak = Math.max(peak, await residentMib())
        if (sent !== stood) since = performance.now()
        stood = sent
        return performance.now() - since > PAUSE_MS
      },
      TEST_TIMEOUT_MS,
    )
    // The rest is in the sockets, whose buffers in the kernel may hold half of it.
    expect(stood).toBeLessThan(FRAGMENTS)
    expect(peak - before).toBeLessThan(80)

    const stream = Buffer.concat(await response.toArray()).toString()
    const numbers = textsOf(stream).map((text) => Number.parseInt(text, 10))
    expect(numbers).toEqual(Array.from({ length: FRAGMENTS }, (_, index) => index))
  },
  TEST_TIMEOUT_MS,
)
