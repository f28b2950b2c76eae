import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { createChunkEncoder } from '#rest/chat/chunks.ts'
import { installProblems } from '../response/problem.ts'
import { type StreamTimes, sendEventStream } from './event-stream.ts'

const LONG_MS = 60_000
const end: ChatEvent = { type: 'end', reason: 'stop' }
const say = (content: string): readonly ChatEvent[] => [{ type: 'text', text: content }]

let app: FastifyInstance
let batches: () => AsyncIterable<readonly ChatEvent[]>
let times: StreamTimes

beforeEach(async () => {
  times = { headerHoldMs: LONG_MS, keepAliveMs: LONG_MS }
  app = Fastify({ forceCloseConnections: true })
  app.decorateRequest('problem', undefined)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-request-id', 'request-1')
  })
  installProblems(app)
  app.get('/', async (_request, reply) => {
    const chat = chatOf(batches())
    await sendEventStream(reply, chat, createChunkEncoder(chat, { detail: false }), times)
    return reply
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

async function open(): Promise<IncomingMessage> {
  const [response] = (await once(httpRequest(app.listeningOrigin).end(), 'response')) as [IncomingMessage]
  return response.setEncoding('utf8')
}

/** The next piece of the body. */
async function piece(response: IncomingMessage): Promise<string> {
  const [chunk] = (await once(response, 'data')) as [string]
  return chunk
}

test('a stream has the headers of an event stream and those that hooks have set', async () => {
  batches = async function* () {
    yield say('Hi')
    yield [end]
  }
  const response = await open()
  expect(response.statusCode).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': 'request-1',
  })
  expect(response.headers).not.toHaveProperty('content-encoding')
  expect(await text(response)).toMatch(/"Hi".*\n\n.*"stop".*\n\ndata: \[DONE\]\n\n$/)
})

test('each batch is sent as soon as it arrives', async () => {
  const next = Promise.withResolvers<void>()
  batches = async function* () {
    yield say('one')
    await next.promise
    yield say('two')
    yield [end]
  }
  const response = await open()
  expect(await piece(response)).toMatch(/^data: .*"one".*\n\n$/)
  next.resolve()
  expect(await piece(response)).toMatch(/"two"/)
})

test('a failure before the first text is an ordinary error', async () => {
  batches = async function* () {
    yield []
    throw new Problem('agent_rate_limited', { retryAfterSeconds: 7 })
  }
  const response = await open()
  expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '7'])
  expect(JSON.parse(await text(response))).toMatchObject({ code: 429, reason: 'agent_rate_limited' })
})

test.each([
  ['a problem', new Problem('agent_truncated'), 'agent_truncated'],
  ['an internal error, whose message is not sent', new Error('a secret of ours'), 'internal_error'],
])('a failure after the first text is one event and no [DONE]: %s', async (_name, error, code) => {
  batches = async function* () {
    yield say('Hi')
    throw error
  }
  const stream = await text(await open())
  expect(stream).toMatch(/"Hi".*\n\ndata: \{"error":\{.*\}\}\n\n$/)
  expect(stream).toContain(`"code":"${code}"`)
  expect(stream).not.toMatch(/DONE|secret/)
})

test('the headers are sent after headerHoldMs with a comment, and a later failure becomes an event', async () => {
  times = { headerHoldMs: 10, keepAliveMs: LONG_MS }
  const fail = Promise.withResolvers<never>()
  batches = async function* () {
    yield await fail.promise
  }
  const response = await open()
  expect(response.statusCode).toBe(200)
  expect(await piece(response)).toBe(': keep-alive\n\n')
  fail.reject(new Problem('agent_unreachable'))
  expect(await text(response)).toMatch(/^data: \{"error":.*"agent_unreachable".*\n\n$/)
})

test('a comment is sent during every pause until the end', async () => {
  times = { headerHoldMs: LONG_MS, keepAliveMs: 10 }
  const next = Promise.withResolvers<void>()
  batches = async function* () {
    yield say('one')
    await next.promise
    yield [end]
  }
  const response = await open()
  expect(await piece(response)).toMatch(/"one"/)
  expect(await piece(response)).toBe(': keep-alive\n\n')
  expect(await piece(response)).toBe(': keep-alive\n\n')
  next.resolve()
  expect(await text(response)).toMatch(/data: \[DONE\]\n\n$/)
})

test('no character of a text ends a line, not even for readers that split at Unicode line ends', async () => {
  batches = async function* () {
    yield say('a\u2028b\u2029c\u0085d\r\ne\u000bf')
    yield [end]
  }
  const stream = await text(await open())
  expect(stream).not.toMatch(/[\u0085\u2028\u2029\r\v]/)
  expect(JSON.parse(stream.slice(6, stream.indexOf('\n'))).choices[0].delta.content).toBe(
    'a\u2028b\u2029c\u0085d\r\ne\u000bf',
  )
})

test('while a client does not read, no more events are read from the call', async () => {
  const megabyte = 'x'.repeat(1 << 20)
  let batchesRead = 0
  batches = async function* () {
    for (; batchesRead < 100; batchesRead += 1) yield say(megabyte)
    yield [end]
  }
  const response = await open()
  let before = -1
  while (batchesRead !== before) {
    before = batchesRead
    await roundTrips()
  }
  expect(batchesRead).toBeLessThan(50)
  let size = 0
  for await (const chunk of response) size += chunk.length
  expect([batchesRead, size > 100 * megabyte.length]).toEqual([100, true])
})

test('a stream whose client has left ends without waiting for it', async () => {
  const ended = Promise.withResolvers<void>()
  let hasLeft = false
  batches = async function* () {
    while (!hasLeft) yield say('x'.repeat(1 << 20))
    ended.resolve()
  }
  const response = await open()
  await piece(response)
  hasLeft = true
  response.destroy()
  await ended.promise
})

/** Waits until what was in flight has arrived. */
async function roundTrips(): Promise<void> {
  for (let trip = 0; trip < 10; trip += 1) {
    await fetch(`${app.listeningOrigin}/nothing`).then((response) => response.text())
  }
}
