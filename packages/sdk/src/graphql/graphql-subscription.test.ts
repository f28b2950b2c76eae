import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withGraphQL } from '../graphql.ts'
import {
  AbortError,
  type ClientOptions,
  ConnectionError,
  IdleTimeoutError,
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
  return { gql: withGraphQL(new Trunkline({ baseURL: 'http://gateway.test', fetch, ...options })), fetch }
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
