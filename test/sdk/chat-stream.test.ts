import {
  AbortError,
  BadRequestError,
  type ChatReply,
  type ServerChatStream,
  StreamFailedError,
  Trunkline,
} from '@trunkline/sdk'
import { readChatStream } from '@trunkline/sdk/chat'
import OpenAI from 'openai'
import { Stream } from 'openai/core/streaming'
import { fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because leaving a stream closes a connection, which the gateway must notice and settle.

const PLATFORMS = ['fastgpt', 'openai', 'dify', 'coze', 'hiagent'] as const

let system: GatewayWithSandbox
let client: Trunkline
let conversations = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox({ settings: { chat: { headerHoldMs: 20, keepAliveMs: 20 } } })
  client = new Trunkline({ baseURL: system.gateway.url, apiKey: system.key, accessToken: system.token })
})
afterAll(() => system?.remove())

/** A message in a conversation of its own. */
function message(query: string, agent: string = 'openai') {
  conversations += 1
  const id = `talk-${conversations}`
  return { agent, query, chat_id: id, conversation_id: id, app_id: agent === 'fastgpt' ? 'app-1' : '' }
}

const withoutIdAndTime = (reply: ChatReply) => ({ ...reply, id: '', created: 0 })

test("the fetch of the package undici fits, whose types are not those of the runtime's own", async () => {
  const { full_key: apiKey } = await system.api.createKey(system.token, { permissions: ['chat', 'upload'] })
  const other = client.withOptions({ fetch: undiciFetch, apiKey })
  expect(await other.chat.stream(message('sandbox:echo Hello')).text()).toContain('Hello')
  const { id } = await other.uploads.create(new TextEncoder().encode('text'), { created_by: 'ada' })
  expect(id).not.toBe('')
})

describe.each(PLATFORMS)('%s', (agent) => {
  test.each([false, true])(
    'text() and final() are what create() returns, with detail: %s',
    async (detail) => {
      const query = 'sandbox:echo é 中文 🎉 and\nlines'
      const whole = await client.chat.create({ ...message(query, agent), detail })
      const stream = client.chat.stream({ ...message(query, agent), detail })
      const streamed = await stream.final()
      expect({ ...withoutIdAndTime(streamed), detail: streamed.detail?.length }).toEqual({
        ...withoutIdAndTime(whole),
        detail: whole.detail?.length,
      })
      expect(await stream.text()).toBe(whole.choices[0]?.message.content)
    },
  )

  test('leaving the loop cancels the request, and the ledger has it as client_gone', async () => {
    const stream = client.chat.stream(message('sandbox:slow=20 sandbox:long Hello', agent))
    const { requestId } = await stream.withResponse()
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break
    }
    const call = await until('the call to be settled', async () => {
      const { items } = await client.calls.list()
      return items.find(({ request_id, outcome }) => request_id === requestId && outcome !== null)
    })
    expect(call.outcome).toBe('client_gone')
    await expect(stream.final()).rejects.toThrow('The stream was left.')
  })
})

test('a stream that was read to its end is done in the ledger', async () => {
  const stream = client.chat.stream(message('Hello'))
  const { requestId } = await stream.withResponse()
  await stream.text()
  const call = await until('the call to be settled', async () => {
    const { items } = await client.calls.list()
    return items.find(({ request_id, outcome }) => request_id === requestId && outcome !== null)
  })
  expect(call.outcome).toBe('done')
})

test('a loop, listeners and final() see the same reply', async () => {
  const heard: string[] = []
  const details: string[] = []
  const replies: ChatReply[] = []
  const stream = client.chat.stream({ ...message('Hello', 'fastgpt'), detail: true })
  stream
    .on('text', (text) => heard.push(text))
    .on('detail', ({ type }) => details.push(type))
    .on('end', (reply) => replies.push(reply))
  const read: string[] = []
  for await (const chunk of stream) read.push(chunk.choices[0]?.delta.content ?? '')
  const reply = await stream.final()
  expect(heard.join('')).toBe(read.join(''))
  expect(heard.join('')).toBe(reply.choices[0]?.message.content)
  expect(details).toEqual(reply.detail?.map(({ type }) => type))
  expect(replies).toEqual([reply])
  expect(() => stream[Symbol.asyncIterator]()).toThrow('can be read once')
})

test('with listeners alone the stream flows by itself, and they hear of its failure', async () => {
  const text: string[] = []
  const error = await new Promise((resolve) => {
    client.chat
      .stream(message('sandbox:error-midstream Hello'))
      .on('text', (piece) => text.push(piece))
      .on('error', resolve)
  })
  expect(error).toBeInstanceOf(StreamFailedError)
  expect(error).toMatchObject({ reason: 'agent_error', status: 200, requestId: expect.any(String) })
  expect(text.join('')).not.toBe('')
})

test('a refusal throws the error of its status, to everybody who waits', async () => {
  // The gateway refuses it itself, however soon it sends the headers of a stream.
  const stream = client.chat.stream(message('Hello', 'nobody'))
  const final = stream.final()
  await expect(stream.text()).rejects.toThrow(BadRequestError)
  await expect(final).rejects.toMatchObject({ reason: 'unknown_agent', status: 400 })
})

test.each([
  ['before the response', 'sandbox:hang Hello'],
  ['between chunks', 'sandbox:slow=20 sandbox:long Hello'],
])('abort() and the signal end a stream %s', async (_, query) => {
  const own = client.chat.stream(message(query))
  const text = own.text()
  own.on('text', () => own.abort())
  if (query.includes('hang')) queueMicrotask(() => own.abort())
  await expect(text).rejects.toThrow(AbortError)

  const controller = new AbortController()
  const given = client.chat.stream(message(query), { signal: controller.signal })
  given.on('text', () => controller.abort('enough')).on('error', () => undefined)
  if (query.includes('hang')) queueMicrotask(() => controller.abort('enough'))
  await expect(given.final()).rejects.toThrow(AbortError)
})

test('toResponse() is read by the reader and by the openai package, and passes keep-alives on', async () => {
  const response = client.chat.stream({ ...message('Hello', 'fastgpt'), detail: true }).toResponse()
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const [ours, theirs] = response.body?.tee() ?? []
  const read = await allOf(readChatStream(ours ?? expect.unreachable()))
  const stream = Stream.fromSSEResponse(
    new Response(theirs),
    new AbortController(),
    new OpenAI({ apiKey: '-' }),
  )
  expect(read).toEqual(await allOf(stream))
  expect(read.at(-1)?.choices[0]?.finish_reason).toBe('stop')

  const slow = await client.chat.stream(message('sandbox:slow-first=200 Hello')).toResponse().text()
  expect(slow).toMatch(/^: keep-alive\n\n/)
  expect(slow).toMatch(/data: \[DONE\]\n\n$/)
})

test.each([
  ['app-not-found', 'stream_failed'],
  ['rate-limit', 'agent_rate_limited'],
])('toResponse() of a chat that fails with %s tells the visitor %s', async (kind, reason) => {
  const failing = client.chat.stream(message(`sandbox:error=${kind} Hello`, 'fastgpt'), { maxRetries: 0 })
  const errors: unknown[] = []
  const response = failing.toResponse({
    onError: (error) => {
      errors.push(error)
      return 'Something went wrong.'
    },
  })
  await expect(allOf(readChatStream(response))).rejects.toMatchObject({
    constructor: StreamFailedError,
    reason,
    detail: 'Something went wrong.',
  })
  expect(errors).toEqual([expect.objectContaining({ requestId: expect.any(String) })])
})

test.each<[string, (stream: ServerChatStream, leaving: AbortController) => unknown]>([
  ['abort()', (stream) => stream.abort()],
  ['the signal', (_stream, leaving) => leaving.abort()],
  ['cancelling toReadableStream()', (stream) => stream.toReadableStream().cancel()],
])('%s ends a stream that has begun and that nobody reads yet', async (_name, leave) => {
  const leaving = new AbortController()
  const { signal } = leaving
  const stream = client.chat.stream(message('sandbox:slow=20 sandbox:long Hello', 'dify'), { signal })
  const { requestId } = await stream.withResponse()
  await leave(stream, leaving)
  await until('the call is settled', async () => {
    const [call] = (await client.calls.list({ request_id: requestId ?? '' })).items
    return call?.outcome === 'client_gone'
  })
  await expect(stream.text()).rejects.toBeInstanceOf(AbortError)
})

test('cancelling toReadableStream() cancels the request', async () => {
  const { seen } = system.sandbox.agents.openai
  const reader = client.chat
    .stream(message('sandbox:slow=20 sandbox:long Hello'))
    .toReadableStream()
    .getReader()
  await reader.read()
  await reader.cancel()
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
})

describe.each(PLATFORMS)('a conversation with %s', (agent) => {
  test('keeps the id that the first reply names', async () => {
    // HiAgent has no conversation without an id.
    const id = agent === 'hiagent' ? { id: 'talk-with-hiagent' } : {}
    const talk = client.chat.conversation({ agent, app_id: agent === 'fastgpt' ? 'app-1' : '', ...id })
    expect(talk.id).toBe(id.id)
    const first = await talk.create('The word is Alabaster.')
    expect(talk.id).toBe(first.id)
    const second = talk.stream({ query: 'What is the word?' })
    expect((await second.final()).id).toBe(first.id)
    expect(talk.id).toBe(first.id)
  })
})

test('a conversation that begins with a stream takes the id from its chunks', async () => {
  const talk = client.chat.conversation({ agent: 'openai' })
  for await (const chunk of talk.stream('Hello')) {
    expect(talk.id).toBe(chunk.id)
  }
  expect((await talk.create('And now?')).id).toBe(talk.id)
})

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
