import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AuthenticationError } from '@trunkline/sdk'
import {
  AbortError,
  ConnectionError,
  IdleTimeoutError,
  InvalidResponseError,
  readChatStream,
  TruncatedStreamError,
} from '@trunkline/sdk/chat'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bodyOf } from '../support/chat-stream-outcome.ts'

/** Each test is an entry of the list in `packages/sdk/docs/stream-reader.md`. */

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const encoder = new TextEncoder()
const CHUNK = '{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}'
const EVENT = `data: ${CHUNK}\n\n`
const DONE = 'data: [DONE]\n\n'

test('an abort throws, and cancels the request', async () => {
  const { body, isCancelled } = openBody(EVENT)
  const controller = new AbortController()
  const reader = readChatStream(body, { signal: controller.signal })
  await reader.next()
  const waiting = reader.next()
  controller.abort('enough')
  await expect(waiting).rejects.toMatchObject({ constructor: AbortError, cause: 'enough' })
  expect(isCancelled()).toBe(true)
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('an abort between two chunks throws at the next one, also if its bytes are there already', async () => {
  const { body, isCancelled } = openBody(EVENT + EVENT)
  const controller = new AbortController()
  const reader = readChatStream(body, { signal: controller.signal })
  await reader.next()
  controller.abort()
  expect(isCancelled()).toBe(true)
  await expect(reader.next()).rejects.toThrow(AbortError)
})

test('a signal that is aborted already throws before anything is read', async () => {
  const { body, isCancelled } = openBody(EVENT)
  await expect(readChatStream(body, { signal: AbortSignal.abort() }).next()).rejects.toThrow(AbortError)
  expect(isCancelled()).toBe(true)
})

test('a body that fails because its request was aborted throws the same', async () => {
  const failure = new DOMException('This operation was aborted', 'AbortError')
  await expect(readChatStream(failingBody(failure)).next()).rejects.toMatchObject({
    constructor: AbortError,
    cause: failure,
  })
})

test('an end with neither [DONE] nor a finish reason throws, after the chunks before it', async () => {
  const reader = readChatStream(bodyOf([encoder.encode(EVENT)]))
  expect(await reader.next()).toEqual({ done: false, value: JSON.parse(CHUNK) })
  await expect(reader.next()).rejects.toThrow(TruncatedStreamError)
})

test.each([
  ['a JSON reply', new Response('{"id":"a"}', { headers: { 'content-type': 'application/json' } })],
  ['a page', new Response(DONE, { headers: { 'content-type': 'text/html; charset=utf-8' } })],
  ['a text', new Response('Hello\n')],
  ['nothing', new Response(null)],
])('a body that is no event stream throws: %s', async (_, response) => {
  await expect(readChatStream(response).next()).rejects.toThrow(InvalidResponseError)
})

test('a response that is no success throws the error of its status', async () => {
  const body = JSON.stringify({
    code: 401,
    msg: 'No.',
    detail: 'Expired.',
    reason: 'key_expired',
    request_id: 'r',
  })
  await expect(readChatStream(new Response(body, { status: 401 })).next()).rejects.toMatchObject({
    constructor: AuthenticationError,
    reason: 'key_expired',
  })
})

test.each([
  ['only a name', 'event: ping\n\n'],
  ['an empty text', 'data:\n\n'],
  ['no colon', 'data\n\n'],
])('an event without data is skipped: %s', async (_, event) => {
  const chunks = await allOf(readChatStream(bodyOf([encoder.encode(event + EVENT + DONE)])))
  expect(chunks).toEqual([JSON.parse(CHUNK)])
})

test('silence throws after idleTimeoutMs, and comments count as life', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { body, send, isCancelled } = openBody('')
  let comments = 0
  const waiting = readChatStream(body, { onComment: () => (comments += 1) }).next()
  const failed = expect(waiting).rejects.toThrow(IdleTimeoutError)
  for (let sent = 1; sent <= 3; sent += 1) {
    await vi.advanceTimersByTimeAsync(59_999)
    send(': keep-alive\n\n')
    await vi.advanceTimersByTimeAsync(0)
    expect(comments).toBe(sent)
  }
  await vi.advanceTimersByTimeAsync(59_999)
  expect(isCancelled()).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await failed
  expect(isCancelled()).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('a reader that is slow itself is not idle', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { body, send } = openBody(EVENT)
  const reader = readChatStream(body, { idleTimeoutMs: 10 })
  await reader.next()
  await vi.advanceTimersByTimeAsync(1_000)
  send(EVENT)
  expect(await reader.next()).toMatchObject({ done: false })
})

test.each([1, 7, 100, 1_000, 1_000_000])(
  'a line beyond the limit throws, after what precedes it, in pieces of %i bytes',
  async (size) => {
    const limit = 500
    const good = `data: "${'a'.repeat(limit - 8)}"\n\n`
    const whole = encoder.encode(`${good}${EVENT}data: "${'b'.repeat(limit - 7)}"\n\n${DONE}`)
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
      whole.subarray(n * size, (n + 1) * size),
    )
    const reader = readChatStream(bodyOf(pieces), { lineLengthMax: limit })
    expect(await reader.next()).toEqual({ done: false, value: 'a'.repeat(limit - 8) })
    expect(await reader.next()).toMatchObject({ done: false })
    await expect(reader.next()).rejects.toThrow('longer than 500 characters')
  },
)

test('a line without end stops at 16 MiB', async () => {
  let sent = 0
  const piece = encoder.encode('a'.repeat(64 * 1024))
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += piece.length
      controller.enqueue(piece)
    },
  })
  await expect(readChatStream(body).next()).rejects.toThrow(InvalidResponseError)
  expect(sent).toBeLessThan(17 * 1024 * 1024)
})

test('an event without end stops at the limit of a line', async () => {
  const lines = encoder.encode('data: 1\n'.repeat(1_000))
  const reader = readChatStream(bodyOf([lines]), { lineLengthMax: 1_000 })
  await expect(reader.next()).rejects.toThrow('longer than 1000 characters')
})

test('a connection that breaks throws an error of its own, with the one of fetch as its cause', async () => {
  const cause = new TypeError('terminated')
  await expect(readChatStream(failingBody(cause)).next()).rejects.toMatchObject({
    constructor: ConnectionError,
    cause,
  })
})

test('leaving the loop cancels the request, and a second loop has nothing to read', async () => {
  const { body, isCancelled } = openBody(EVENT + EVENT)
  const reader = readChatStream(body)
  for await (const chunk of reader) {
    expect(chunk).toEqual(JSON.parse(CHUNK))
    break
  }
  expect(isCancelled()).toBe(true)
  expect(await allOf(reader)).toEqual([])
})

test('a reader that is ended before it has begun cancels the body', async () => {
  const { body, isCancelled } = openBody(EVENT)
  await readChatStream(body).return?.()
  expect(isCancelled()).toBe(true)
})

test('a read that waits ends with the reader, also on a body that does not answer', async () => {
  const forever: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
  }
  const reader = readChatStream(forever)
  const waiting = reader.next()
  await reader.return?.()
  expect(await waiting).toEqual({ done: true, value: undefined })
})

test('the memory that an endless stream takes does not grow', async () => {
  const events = encoder.encode(EVENT.repeat(500))
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(events) })
  const reader = readChatStream(endless)
  async function heapAfter(chunks: number): Promise<number> {
    for (let read = 0; read < chunks; read += 1) await reader.next()
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await heapAfter(50_000)
  const after = await heapAfter(200_000)
  await reader.return?.()
  expect(after - before).toBeLessThan(1024 * 1024)
})

test('calls that do not wait for each other get the chunks in order', async () => {
  const { body, send } = openBody('')
  const reader = readChatStream(body)
  const results = Promise.all([reader.next(), reader.next(), reader.next()])
  send('data: 1\n\ndata: 2\n\n')
  send(DONE)
  expect((await results).map(({ value }) => value)).toEqual([1, 2, undefined])
})

test('a body may be a stream of Node, or of texts', async () => {
  async function* texts() {
    yield 'data: "é'
    yield '"\n\n'
    yield DONE
  }
  expect(await allOf(readChatStream(texts()))).toEqual(['é'])
})

/** A body that stays open, so that cancelling it can be seen. */
function openBody(first: string) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own
      if (first !== '') own.enqueue(encoder.encode(first))
    },
    cancel() {
      cancelled = true
    },
  })
  return {
    body,
    send: (text: string) => controller?.enqueue(encoder.encode(text)),
    isCancelled: () => cancelled,
  }
}

function failingBody(error: Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.error(error)
    },
  })
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
