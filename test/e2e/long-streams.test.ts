import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform, written } from '../support/scripted-platform.ts'

// A process, because it is given less memory than the answers have, and would run out of it.

/** Enough memory for the gateway, but not for two of the answers. */
const HEAP_MIB = 140
const FRAGMENTS = 8_000
const CHUNK = sse({ choices: [{ delta: { content: 'x'.repeat(8 * 1024) } }] })

let platform: ScriptedPlatform
let gateway: TestGateway
let api: Api
let key: string

beforeAll(async () => {
  platform = await startScriptedPlatform(async (_path, _body, response) => {
    response.setHeader('content-type', 'text/event-stream')
    for (let sent = 0; sent < FRAGMENTS; sent += 1) await written(response, CHUNK)
    response.end(sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]'))
  })
  const agents = { vllm: { platform: 'openai', baseUrl: `${platform.origin}/v1`, model: 'm' } }
  const chat = { streamBytesMax: 2 ** 30 }
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
  gateway = await startGateway({ config: JSON.stringify({ agents, chat }), env })
  api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway.remove()
  await platform.close()
})

test('long answers are streamed without being held in memory, although the gateway stores the turns of such agents', async () => {
  const sizes = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const response = await api.chat(key, 'vllm', { stream: true, chat_id: randomUUID() })
      let size = 0
      let last = ''
      for await (const piece of response.body ?? []) {
        size += piece.length
        last = Buffer.from(piece).toString()
      }
      return [size > FRAGMENTS * 8 * 1024, last.endsWith('data: [DONE]\n\n')]
    }),
  )
  expect(sizes).toEqual(Array.from({ length: 4 }, () => [true, true]))
})
