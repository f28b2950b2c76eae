import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform, written } from '../support/scripted-platform.ts'
import { payloadsOf, readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because the memory and the places of a process are what is bounded, and its platform sends without end.

const MIB = 1024 * 1024
const IN_FLIGHT_MAX = 4
const STREAMS_PER_KEY = 2
const STREAM_BYTES_MAX = 8 * MIB
const REPLY_BYTES_MAX = 2 * STREAM_BYTES_MAX

const CHUNK = sse({ choices: [{ delta: { content: 'x'.repeat(8 * 1024) } }] })
const STOP = sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]')

let platform: ScriptedPlatform
let gateway: TestGateway
let api: Api
let token: string
let key: { id: string; full_key: string }
let held: (() => void)[] = []

beforeAll(async () => {
  platform = await startScriptedPlatform(async (_path, body, response) => {
    const question = (body.messages as { content: string }[]).at(-1)?.content
    response.setHeader('content-type', 'text/event-stream')
    response.write(sse({ choices: [{ delta: { content: 'Hi' } }] }))
    if (question === 'endless') for (;;) await written(response, CHUNK)
    if (question === 'held') await new Promise<void>((resolve) => held.push(resolve))
    response.end(STOP)
  })
  const agents = { vllm: { platform: 'openai', baseUrl: `${platform.origin}/v1`, model: 'm' } }
  const chat = {
    inFlightMax: IN_FLIGHT_MAX,
    streamBytesMax: STREAM_BYTES_MAX,
    replyBytesMax: REPLY_BYTES_MAX,
  }
  const limits = { chat: { points: 1_000 }, streamsPerKey: STREAMS_PER_KEY }
  gateway = await startGateway({ config: JSON.stringify({ agents, chat, limits }) })
  api = apiOf(gateway)
  token = await api.login()
})
afterAll(async () => {
  for (const release of held) release()
  await gateway.remove()
  await platform.close()
})
beforeEach(async () => {
  for (const release of held) release()
  held = []
  key = await api.createKey(token)
})

const chat = (query: string, more: Record<string, unknown> = {}, by = key.full_key) =>
  api.chat(by, 'vllm', { query, stream: true, chat_id: randomUUID(), ...more })

async function openHeld(by?: string) {
  const stream = readerOf(await chat('held', {}, by))
  await stream.until(/Hi/)
  return stream
}

async function totalCalls(): Promise<number> {
  const { body } = await api.call('GET', '/api/v1/key', { token: key.full_key })
  return body.data.usage.total_calls
}

describe('an answer without end', () => {
  const body = { model: 'vllm', messages: [{ role: 'user', content: 'endless' }] }
  const complete = (more: object) =>
    fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.full_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...more }),
    })

  test.each([
    ['of /chat', () => chat('endless')],
    ['of the OpenAI-compatible face', () => complete({ stream: true })],
  ])('ends a stream %s with one error frame at its maximum size', async (_name, ask) => {
    const payloads = payloadsOf(await (await ask()).text())
    const last = JSON.parse(payloads.at(-1) ?? '')
    expect(last.error).toMatchObject({ code: 'agent_malformed' })
    expect(last.error.message).toContain(`${STREAM_BYTES_MAX} bytes`)
    const carried = payloads.slice(0, -1).map((payload) => JSON.parse(payload).choices[0].delta.content ?? '')
    const size = carried.join('').length
    expect(size).toBeLessThanOrEqual(STREAM_BYTES_MAX)
    expect(size).toBeGreaterThan(STREAM_BYTES_MAX - 16 * 1024)
  })

  test.each([
    ['of /chat', () => chat('endless', { stream: false })],
    ['of the OpenAI-compatible face', () => complete({ stream: false })],
  ])('is an ordinary error response to a JSON request %s', async (_name, ask) => {
    const response = await ask()
    expect([response.status, await response.text()]).toEqual([
      502,
      expect.stringContaining('"agent_malformed"'),
    ])
  })

  test('is settled as a failure of the platform', async () => {
    await (await chat('endless')).text()
    const settled = await until('the call is settled', async () => {
      const { body } = await api.call('GET', '/api/v1/calls?limit=1', { token })
      return body.data.items[0].outcome === null ? undefined : body.data.items[0]
    })
    expect(settled).toMatchObject({ outcome: 'upstream_error', reason: 'agent_malformed' })
  })
})

describe('calls in flight', () => {
  test('beyond the limit of the process are rejected before they are counted, and served once another call has ended', async () => {
    const other = await api.createKey(token)
    const streams = [
      await openHeld(),
      await openHeld(),
      await openHeld(other.full_key),
      await openHeld(other.full_key),
    ]
    const before = await totalCalls()
    for (const stream of [true, false]) {
      const refused = await chat('Hello', { stream })
      expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
        503,
        '1',
        null,
      ])
      expect(await refused.json()).toMatchObject({ reason: 'unavailable' })
    }
    expect(await totalCalls()).toBe(before)
    expect(gateway.output).not.toMatch(/"level":"error"/)

    held.shift()?.()
    await streams[0]?.rest()
    expect((await chat('Hello')).status).toBe(200)
  })
})

describe('streams of one key', () => {
  test('beyond its limit are rejected before they are counted; JSON replies and other keys are not', async () => {
    const first = await openHeld()
    await openHeld()
    const before = await totalCalls()
    const refused = await chat('Hello')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ reason: 'rate_limited' })
    expect(await totalCalls()).toBe(before)
    expect((await chat('Hello', { stream: false })).status).toBe(200)
    expect((await chat('Hello', {}, (await api.createKey(token)).full_key)).status).toBe(200)

    held.shift()?.()
    await first.rest()
    expect((await chat('Hello')).status).toBe(200)
  })

  test('that are requested at the same moment are limited as well', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat('held')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(STREAMS_PER_KEY)
    for (const release of held) release()
    await Promise.all(answers.map((answer) => answer.text()))
    expect((await Promise.all([chat('Hello'), chat('Hello')])).map(({ status }) => status)).toEqual([
      200, 200,
    ])
  })
})

test('the OpenAI-compatible interface returns the errors of these bounds in its own format', async () => {
  await openHeld()
  await openHeld()
  const refused = await fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.full_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vllm', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: 'rate_limited' } }])
})
