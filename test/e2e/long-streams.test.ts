import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, apiOf, chatBody } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform, written } from '../support/scripted-platform.ts'
import { until } from '../support/until.ts'

// A process, because it is given less memory than the answers have, and would run out of it.

/** Enough memory for the gateway, but not for two of the answers. */
const HEAP_MIB = 140
const STALLED_MS = 2_000
const FRAGMENTS = 8_000
const CHUNK = sse({ choices: [{ delta: { content: 'x'.repeat(8 * 1024) } }] })

let platform: ScriptedPlatform
let gateway: TestGateway
let api: Api
let token: string
let key: string

beforeAll(async () => {
  platform = await startScriptedPlatform(async (_path, _body, response) => {
    response.setHeader('content-type', 'text/event-stream')
    for (let sent = 0; sent < FRAGMENTS; sent += 1) await written(response, CHUNK)
    response.end(sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]'))
  })
  const agents = { vllm: { platform: 'openai', baseUrl: `${platform.origin}/v1`, model: 'm' } }
  const chat = { stalledMs: STALLED_MS, streamBytesMax: 2 ** 30 }
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
  gateway = await startGateway({ config: JSON.stringify({ agents, chat }), env })
  api = apiOf(gateway)
  token = await api.login()
  key = (await api.createKey(token)).full_key
})
afterAll(async () => {
  await gateway.remove()
  await platform.close()
})

async function open(): Promise<{ response: IncomingMessage; id: string }> {
  const id = randomUUID()
  const outgoing = request(`${gateway.url}/api/v1/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      agent: 'vllm',
      'content-type': 'application/json',
      'x-request-id': id,
    },
  })
  outgoing.on('error', () => undefined)
  outgoing.end(JSON.stringify(chatBody({ stream: true, chat_id: id })))
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return { response, id }
}

async function outcomeOf(id: string): Promise<string | null> {
  const { body } = await api.call('GET', `/api/v1/calls?request_id=${id}`, { token })
  return body.data.items[0].outcome
}

test('long answers are streamed without being held in memory, although the gateway stores the turns of such agents', async () => {
  const sizes = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { response } = await open()
      let size = 0
      let last = ''
      for await (const piece of response) {
        size += piece.length
        last = String(piece)
      }
      return [size > FRAGMENTS * 8 * 1024, last.endsWith('data: [DONE]\n\n')]
    }),
  )
  expect(sizes).toEqual(Array.from({ length: 4 }, () => [true, true]))
})

// On other systems a socket reports progress only in steps of more than a megabyte.
test.runIf(process.platform === 'linux')(
  'a reader that reads nothing is disconnected, and one that reads slowly gets its whole reply',
  { timeout: 120_000 },
  async () => {
    const slow = await open()
    let size = 0
    const reading = setInterval(() => {
      size += slow.response.read(64 * 1024)?.length ?? 0
    }, 50)
    // Each of these readers in turn reads nothing for longer than is allowed, while the slow one keeps reading.
    for (let times = 0; times < 2; times += 1) {
      const { id } = await open()
      await until('the idle reader is disconnected', async () => (await outcomeOf(id)) === 'client_gone')
    }
    expect(await outcomeOf(slow.id)).toBe(null)

    clearInterval(reading)
    for await (const piece of slow.response) size += piece.length
    expect(size).toBeGreaterThan(FRAGMENTS * 8 * 1024)
    await until('the slow call is settled', async () => (await outcomeOf(slow.id)) === 'done')
  },
)
