import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withGraphQL } from '../graphql.ts'
import {
  AbortError,
  type ClientOptions,
  ConnectionError,
  IdleTimeoutError,
  InvalidResponseError,
  ServiceUnavailableError,
  TokenExpiredError,
  TruncatedStreamError,
  Trunkline,
} from '../index.ts'
import { openBody, settle } from '../transport/open-body.test-support.ts'

const next = (data: object) => `event: next\ndata: ${JSON.stringify({ data })}\n\n`
const refusal = (code: string) =>
  `event: next\ndata: ${JSON.stringify({ errors: [{ message: 'No.', extensions: { code, status: 401 } }] })}\n\n`
const COMPLETE = 'event: complete\ndata:\n\n'
const CHAT = 'subscription { chat { text } }'
const USAGE = 'subscription { usageUpdated { totals { calls } } }'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const whole = (...events: string[]) => {
  const body = openBody(...events)
  body.close()
  return body.answer()
}

/** GraphQL for a client whose requests get these answers one after the other. */
function gqlWith(answers: (() => Response | Promise<Response>)[], options: Partial<ClientOptions> = {}) {
  const fetch = vi.fn(async () => await (answers.shift() ?? (() => Promise.reject(new Error('no answer'))))())
  return {
    gql: withGraphQL(new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_key', fetch, ...options })),
    fetch,
  }
}

test('silence throws after idleTimeoutMs, and keep-alive comments count as life', async () => {
  const body = openBody(next({ n: 1 }))
  const { gql } = gqlWith([body.answer], { idleTimeoutMs: 10_000 })
  const items = gql.subscribe(CHAT)
  expect(await items.next()).toEqual({ done: false, value: { n: 1 } })
  const waiting = expect(items.next()).rejects.toThrow(IdleTimeoutError)
  for (let comment = 0; comment < 3; comment += 1) {
    await settle()
    await vi.advanceTimersByTimeAsync(9_999)
    expect(body.cancelled).not.toHaveBeenCalled()
    body.send(':\n\n')
  }
  await settle()
  await vi.advanceTimersByTimeAsync(10_000)
  await waiting
  expect(body.cancelled).toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('the option of a call replaces the limit of the client', async () => {
  const { gql } = gqlWith([openBody().answer], { idleTimeoutMs: 10_000 })
  const waiting = expect(gql.subscribe(CHAT, {}, { idleTimeoutMs: 5 }).next()).rejects.toThrow('for 5 ms')
  await settle()
  await vi.advanceTimersByTimeAsync(5)
  await waiting
})

test.each([
  ['before the first item', []],
  ['after an item', [next({ n: 1 })]],
  ['in the middle of an item', [next({ n: 1 }), 'event: next\ndata: {"da']],
])('a server that ends the stream early, %s, throws', async (_, events) => {
  const { gql } = gqlWith([() => whole(...events)])
  await expect(drain(gql.subscribe(CHAT))).rejects.toThrow(TruncatedStreamError)
})

test('a connection that breaks throws, with the error of fetch as its cause', async () => {
  const body = openBody(next({ n: 1 }))
  const { gql } = gqlWith([body.answer])
  const items = gql.subscribe(CHAT)
  await items.next()
  const cause = new TypeError('terminated')
  const waiting = expect(items.next()).rejects.toMatchObject({ constructor: ConnectionError, cause })
  await settle()
  body.fail(cause)
  await waiting
})

test('an abort throws and cancels the request, also between two items', async () => {
  const body = openBody(next({ n: 1 }))
  const { gql } = gqlWith([body.answer])
  const controller = new AbortController()
  const items = gql.subscribe(CHAT, {}, { signal: controller.signal })
  await items.next()
  controller.abort('enough')
  await expect(items.next()).rejects.toMatchObject({ constructor: AbortError, cause: 'enough' })
  expect(body.cancelled).toHaveBeenCalled()
  const aborted = gql.subscribe(CHAT, {}, { signal: AbortSignal.abort('before') })
  await expect(aborted.next()).rejects.toMatchObject({ constructor: AbortError, cause: 'before' })
})

test('an abort throws at the next item, also where that is there already', async () => {
  const body = openBody(next({ n: 1 }) + next({ n: 2 }) + COMPLETE)
  const { gql } = gqlWith([body.answer])
  const controller = new AbortController()
  const items = gql.subscribe(CHAT, {}, { signal: controller.signal })
  await items.next()
  controller.abort()
  expect(body.cancelled).toHaveBeenCalled()
  await expect(items.next()).rejects.toThrow(AbortError)
})

test('nothing is read before somebody asks for the next item', async () => {
  let sent = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    sent += 1
    controller.enqueue(new TextEncoder().encode(next({ n: sent })))
  }
  const endless = new ReadableStream({ pull }, { highWaterMark: 0 })
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' }
  const { gql } = gqlWith([() => new Response(endless, { headers })])
  const items = gql.subscribe(CHAT)
  for (const n of [1, 2, 3]) {
    expect(await items.next()).toEqual({ done: false, value: { n } })
    await settle()
    expect(sent).toBe(n)
  }
  await items.return()
})

test.each([
  ['a page', 'text/html', '<html></html>'],
  ['a result without a stream', 'application/json', '{"data":{"n":1}}'],
  ['an event without a name', 'text/event-stream', 'data: {"data":{"n":1}}\n\n'],
  ['an event of another protocol', 'text/event-stream', 'event: error\ndata: {"message":"No."}\n\n'],
  ['an event that is not JSON', 'text/event-stream', 'event: next\ndata: {"data\n\n'],
  ['an event that is no object', 'text/event-stream', 'event: next\ndata: null\n\n'],
  ['an item without data', 'text/event-stream', 'event: next\n\n'],
])('a response that is no subscription throws, and is cancelled: %s', async (_, type, text) => {
  const cancel = vi.fn()
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new TextEncoder().encode(text))
  const body = new ReadableStream({ start, cancel })
  const { gql } = gqlWith([() => new Response(body, { headers: { 'content-type': type } })])
  await expect(drain(gql.subscribe(CHAT))).rejects.toThrow(InvalidResponseError)
  expect(cancel).toHaveBeenCalled()
})

test('a response without a body throws', async () => {
  const { gql } = gqlWith([() => new Response(null, { status: 204 })])
  await expect(drain(gql.subscribe(CHAT))).rejects.toThrow(InvalidResponseError)
})

test('leaving the loop cancels the request', async () => {
  const body = openBody(next({ n: 1 }), next({ n: 2 }))
  const { gql } = gqlWith([body.answer])
  for await (const item of gql.subscribe(CHAT)) {
    expect(item).toEqual({ n: 1 })
    break
  }
  await settle()
  expect(body.cancelled).toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('before the first item it is retried, but a chat only where it did not arrive; after it, never', async () => {
  const busy = () => new Response('', { status: 503 })
  const watched = gqlWith([busy, () => whole(next({ n: 1 }), COMPLETE)])
  const items = drain(watched.gql.subscribe(USAGE))
  await settle()
  await vi.advanceTimersByTimeAsync(500)
  expect(await items).toEqual([{ n: 1 }])
  expect(watched.fetch).toHaveBeenCalledTimes(2)

  const chat = gqlWith([busy, busy])
  await expect(drain(chat.gql.subscribe(CHAT))).rejects.toThrow(ServiceUnavailableError)
  expect(chat.fetch).toHaveBeenCalledTimes(1)

  const broken = gqlWith([() => whole(next({ n: 1 })), busy])
  await expect(drain(broken.gql.subscribe(USAGE))).rejects.toThrow(TruncatedStreamError)
  expect(broken.fetch).toHaveBeenCalledTimes(1)
})

test('a token that its first event refuses is renewed once', async () => {
  const renewed = gqlWith(
    [() => whole(refusal('token_expired'), COMPLETE), () => whole(next({ n: 1 }), COMPLETE)],
    {
      accessToken: 'old',
      getAccessToken: () => 'new',
    },
  )
  expect(await drain(renewed.gql.subscribe(USAGE))).toEqual([{ n: 1 }])
  const hopeless = gqlWith([() => whole(refusal('token_expired'), COMPLETE)], { accessToken: 'old' })
  await expect(drain(hopeless.gql.subscribe(USAGE))).rejects.toThrow(TokenExpiredError)
})

async function drain(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const item of items) all.push(item)
  return all
}
