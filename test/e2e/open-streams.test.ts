import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

// A process, because it is given less memory than the prompts have, and would run out of it.

const STREAMS = 150
const PROMPT_BYTES = 900 * 1024
/** Less memory than the prompts of all streams, and more than a gateway needs to serve them one after another. */
const HEAP_MIB = 128

let platform: Platform
let gateway: TestGateway
let key: string

beforeAll(async () => {
  platform = await startPlatform()
  const agents = { counting: { platform: 'openai', baseUrl: platform.baseUrl, model: 'counting' } }
  gateway = await startGateway({
    config: JSON.stringify({ agents, limits: { chat: { points: 100_000 } } }),
    env: {
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      // Spans that are open as long as the streams must not hold it either. Nothing listens there.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    },
  })
  const api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway.remove()
  await platform.close()
})

function ask(body: Buffer): ClientRequest {
  const outgoing = request(`${gateway.url}/api/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  return outgoing.end(body)
}

test('the request body of a stream is not held in memory while the stream is open', async () => {
  const messages = ['x'.repeat(PROMPT_BYTES), 'And now?'].map((content) => ({ role: 'user', content }))
  const body = Buffer.from(JSON.stringify({ model: 'counting', stream: true, messages }))
  platform.hold()
  const streams: IncomingMessage[] = []
  for (let count = 0; count < STREAMS; count += 1) {
    const [response] = (await once(ask(body), 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    streams.push(response)
  }
  platform.release()
  const replies = await Promise.all(streams.map((stream) => stream.setEncoding('utf8').toArray()))
  for (const reply of replies) expect(reply.join('')).toMatch(/"Counted".*"\.".*\[DONE\]\n\n$/s)
})
