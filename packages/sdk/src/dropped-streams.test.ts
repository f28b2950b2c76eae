import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { withGraphQL } from './graphql.ts'
import { AbortError, readChatStream, Trunkline } from './index.ts'
import { openBody } from './transport/open-body.test-support.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CHUNK = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
const ITEM = 'event: next\ndata: {"data":{"n":1}}\n\n'
const STREAMS = 20

afterEach(() => {
  vi.useRealTimers()
})

const clientOf = (...pieces: string[]) =>
  new Trunkline({
    baseURL: 'http://gateway.test',
    apiKey: 'tl_any',
    fetch: async () => openBody(...pieces).answer(),
  })

/** Streams of which one piece is read, and which are then dropped: each returns what must not stay in memory. */
const DROPPED: Readonly<Record<string, (signal: AbortSignal) => Promise<WeakKey>>> = {
  readChatStream: async (signal) => {
    const chunks = readChatStream(openBody(CHUNK, CHUNK).answer(), { signal })
    await chunks.next()
    return chunks
  },
  'a chat': async (signal) => {
    const stream = clientOf(CHUNK, CHUNK).chat.stream({ query: 'Hello' }, { signal })
    await stream[Symbol.asyncIterator]().next()
    return stream
  },
  'a kept chat': async (signal) => {
    const stream = clientOf(CHUNK, CHUNK).chat.stream({ query: 'Hello', keep: true }, { signal })
    await stream[Symbol.asyncIterator]().next()
    return stream
  },
  'a chat that nobody reads': async (signal) => {
    const stream = clientOf(CHUNK).chat.stream({ query: 'Hello' }, { signal })
    await stream.withResponse()
    return stream
  },
  'a chat that is refused': async (signal) => {
    const client = new Trunkline({
      baseURL: 'http://gateway.test',
      apiKey: 'tl_any',
      fetch: async () => new Response('', { status: 400 }),
    })
    const stream = client.chat.stream({ query: 'Hello' }, { signal })
    await stream.withResponse().catch(() => {})
    return stream
  },
  'the response of a route handler': async (signal) => {
    const response = clientOf(CHUNK, CHUNK).chat.stream({ query: 'Hello' }, { signal }).toResponse()
    await response.body?.getReader().read()
    return response
  },
  'a download': async (signal) => {
    const response = await clientOf('a,b\n', 'c,d\n').usage.csv({}, { signal })
    await response.body?.getReader().read()
    return response
  },
  'a subscription': async (signal) => {
    const items = withGraphQL(clientOf(ITEM)).subscribe('subscription { n }', {}, { signal })
    await items.next()
    return items
  },
}

describe.each(Object.entries(DROPPED))('%s, dropped', (_name, drop) => {
  test('leaves nothing to a signal that lives on', async () => {
    const { signal } = new AbortController()
    const left: WeakRef<WeakKey>[] = []
    for (let stream = 0; stream < STREAMS; stream += 1) left.push(new WeakRef(await drop(signal)))
    // What is collected, and when, is up to the engine: it gets as many turns as it wants.
    await vi.waitFor(
      () => {
        collectGarbage()
        expect(left.filter((ref) => ref.deref() !== undefined)).toHaveLength(0)
        expect(getEventListeners(signal, 'abort')).toHaveLength(0)
      },
      { timeout: 30_000, interval: 1 },
    )
  })

  test('leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await drop(new AbortController().signal)
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('a subscription that is dropped ends its request', async () => {
  const body = openBody(ITEM)
  const client = new Trunkline({
    baseURL: 'http://gateway.test',
    apiKey: 'tl_any',
    fetch: async () => body.answer(),
  })
  await (async () => void (await withGraphQL(client).subscribe('subscription { n }').next()))()
  await vi.waitFor(
    () => {
      collectGarbage()
      expect(body.cancelled).toHaveBeenCalled()
    },
    { timeout: 30_000, interval: 1 },
  )
})

test('a stream that somebody waits for is still ended by its signal after a collection', async () => {
  const controller = new AbortController()
  const waiting = expect(readNext(controller.signal)).rejects.toThrow(AbortError)
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
  }
  controller.abort()
  await waiting
})

function readNext(signal: AbortSignal): Promise<unknown> {
  const forever = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }
  return readChatStream(forever, { signal, idleTimeoutMs: 0 }).next()
}

test('between two chunks the signal still cancels the request at once', async () => {
  const body = openBody(CHUNK, CHUNK)
  const controller = new AbortController()
  const chunks = readChatStream(body.answer(), { signal: controller.signal })
  await chunks.next()
  controller.abort('enough')
  expect(body.cancelled).toHaveBeenCalled()
  await expect(chunks.next()).rejects.toMatchObject({ constructor: AbortError, cause: 'enough' })
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
})
