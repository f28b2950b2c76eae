import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  ConnectionError,
  NotFoundError,
  type ResumedStream,
  StreamFailedError,
  Trunkline,
  TrunklineError,
} from '../index.ts'
import {
  CALL_ID,
  chunk,
  EVENTS,
  ended,
  resultOf,
  ScriptedGateway,
  streamOf,
} from './scripted-gateway.test-support.ts'

beforeEach(() => {
  // `setImmediate` stays real: bodies are read in turns of the event loop.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const QUESTION = { agent: 'dify', query: 'Hello', keep: true } as const
const TEXT = 'Hé🎉lo'
const STREAM_PATH = `/calls/${CALL_ID}/stream`

const clientOf = (gateway: ScriptedGateway, maxRetries = 2) =>
  new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_key', fetch: gateway.fetch, maxRetries })

/** How many events are whole within the first bytes. */
function wholeEvents(bytes: number): number {
  return EVENTS.findLastIndex((_, index) => streamOf(EVENTS.slice(0, index + 1)).length <= bytes) + 1
}

/** Steps between the bytes at which a connection is cut. Every event is cut at several places. */
const STEPS = process.env.SOAK ? { once: 1, first: 13, second: 29 } : { once: 5, first: 41, second: 67 }

describe.each(['break', 'close'] as const)('a kept stream whose connection ends by a %s', (by) => {
  test('within or between any events goes on after the last whole event', async () => {
    const length = streamOf(EVENTS).length
    for (let bytes = 0; bytes < length; bytes += STEPS.once) {
      const gateway = new ScriptedGateway({ cuts: [{ bytes, by }] })
      const reply = await resultOf(clientOf(gateway).chat.stream(QUESTION).final())
      expect([reply.text, reply.usage?.total_tokens, reply.callId], `cut at ${bytes}`).toEqual([
        TEXT,
        3,
        CALL_ID,
      ])
      const after = wholeEvents(bytes)
      expect(gateway.log, `cut at ${bytes}`).toEqual([
        'POST /chat',
        `GET ${STREAM_PATH}${after === 0 ? '' : ` ${after}`}`,
      ])
    }
  }, 60_000)

  test('twice goes on twice, with its listeners told and each chunk once', async () => {
    for (let first = 0; first < streamOf(EVENTS).length; first += STEPS.first) {
      const rest = streamOf(EVENTS, { after: wholeEvents(first) }).length
      for (let second = 0; second < rest; second += STEPS.second) {
        const gateway = new ScriptedGateway({
          cuts: [
            { bytes: first, by },
            { bytes: second, by },
          ],
        })
        const resumed: ResumedStream[] = []
        const stream = clientOf(gateway)
          .chat.stream(QUESTION)
          .on('resumed', (event) => resumed.push(event))
        expect(await resultOf(stream.text()), `cut at ${first} and ${second}`).toBe(TEXT)
        expect(gateway.keys.size).toBe(1)
        expect(gateway.log.filter((line) => !line.endsWith('/reply'))).toHaveLength(3)
        expect(resumed.map(({ lastEventId }) => lastEventId)).toEqual([
          wholeEvents(first) || undefined,
          Number(gateway.requests.at(-1)?.headers.get('last-event-id')) || undefined,
        ])
        expect(resumed.every(({ attempt, callId }) => attempt <= 2 && callId === CALL_ID)).toBe(true)
      }
    }
  }, 60_000)
})

test('events that are sent again are read once', async () => {
  const bytes = streamOf(EVENTS.slice(0, 3)).length
  const gateway = new ScriptedGateway({ cuts: [{ bytes }, { bytes }], repeatsAll: true })
  const stream = clientOf(gateway).chat.stream(QUESTION)
  const chunks: string[] = []
  async function readAll(): Promise<void> {
    for await (const each of stream) chunks.push(JSON.stringify(each))
  }
  await resultOf(readAll())
  expect(chunks).toEqual(EVENTS.slice(0, -1))
})

test('a request without any response is sent again with its key, and is no second call', async () => {
  const intercept = (_request: Request, index: number) => {
    if (index < 2)
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })
    return undefined
  }
  const gateway = new ScriptedGateway({ intercept })
  expect(await resultOf(clientOf(gateway).chat.stream(QUESTION).text())).toBe(TEXT)
  expect(gateway.log).toEqual(['POST /chat', 'POST /chat', 'POST /chat'])
  const keys = gateway.requests.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[!-~]{16,255}$/)
})

test('every call has a key of its own, or the one that it is given, and no body has them', async () => {
  const gateway = new ScriptedGateway()
  const client = clientOf(gateway)
  const talk = client.chat.conversation({ agent: 'dify', keep: true })
  await resultOf(client.chat.stream(QUESTION).text())
  await resultOf(talk.stream('Hello').text())
  await resultOf(talk.create('Hello'))
  await resultOf(client.chat.create({ agent: 'dify', query: 'Hello', idempotencyKey: 'my key/1' }))
  expect(gateway.keys.size).toBe(4)
  expect(gateway.keys).toContain('my key/1')
  for (const request of gateway.requests) {
    const fields = Object.keys(await request.json())
    expect(fields).not.toContain('keep')
    expect(fields).not.toContain('idempotencyKey')
  }
})

test.each(['', ' a', 'a ', 'é', 'a\nb', 'a'.repeat(256)])(
  'the key %j is refused before it is sent',
  async (key) => {
    const gateway = new ScriptedGateway()
    const call = clientOf(gateway).chat.create({ agent: 'dify', query: 'Hello', idempotencyKey: key })
    await expect(call).rejects.toMatchObject({ constructor: TrunklineError })
    expect(gateway.requests).toEqual([])
  },
)

test('a gateway that restarts is waited for', async () => {
  const draining = { code: 503, msg: '', detail: '', reason: 'draining', request_id: 'r' }
  const intercept = (_request: Request, index: number) =>
    index === 1 ? Response.json(draining, { status: 503, headers: { 'retry-after': '7' } }) : undefined
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 100 }], intercept })
  const before = Date.now()
  expect(await resultOf(clientOf(gateway).chat.stream(QUESTION).text())).toBe(TEXT)
  expect(gateway.requests).toHaveLength(3)
  expect(Date.now() - before).toBeGreaterThanOrEqual(7_000)
})

test('a stream that falls silent goes on by another connection', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150, by: 'silence' }] })
  const stream = clientOf(gateway).chat.stream(QUESTION, { idleTimeoutMs: 1_000 })
  expect(await resultOf(stream.text())).toBe(TEXT)
  expect(gateway.requests).toHaveLength(2)
})

test('a call that was made before is read with the time limits of the client', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150, by: 'silence' }] })
  const client = clientOf(gateway).withOptions({ idleTimeoutMs: 1_000 })
  const before = Date.now()
  expect(await resultOf(client.calls.resume(CALL_ID).text())).toBe(TEXT)
  expect(Date.now() - before).toBeLessThan(2_000)
})

test('what was resumed has its details, if there are any', async () => {
  const detail = { type: 'reasoning', data: { text: 'Hm.' }, raw: null }
  const events = [JSON.stringify({ ...JSON.parse(chunk('Hi')), detail }), '[DONE]']
  const gateway = new ScriptedGateway({ events })
  expect((await clientOf(gateway).calls.resume(CALL_ID).final()).detail).toEqual([detail])
  expect('detail' in (await clientOf(new ScriptedGateway()).calls.resume(CALL_ID).final())).toBe(false)
})

test('the attempts are counted anew after each event', async () => {
  const one = (index: number) => ({ bytes: streamOf([EVENTS[index] ?? '']).length })
  const gateway = new ScriptedGateway({ cuts: [0, 1, 2, 3].map(one) })
  expect(await resultOf(clientOf(gateway, 1).chat.stream(QUESTION).text())).toBe(TEXT)
  expect(gateway.requests).toHaveLength(5)
})

test('a connection that stays lost is an error that says how to go on', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }, { bytes: 0 }, { bytes: 0 }] })
  const stream = clientOf(gateway).chat.stream({ ...QUESTION, idempotencyKey: 'mine' })
  const result = await ended(stream.text())
  expect(result).toMatchObject({
    reason: {
      constructor: ConnectionError,
      message: expect.stringMatching(/may still be running: client\.calls\.resume/),
      callId: CALL_ID,
      idempotencyKey: 'mine',
      lastEventId: wholeEvents(150),
      cause: expect.any(TrunklineError),
    },
  })
  expect(gateway.requests).toHaveLength(3)
  expect(gateway.stops).toBe(0)
})

test('a gateway that does not come back in time is such an error, too', async () => {
  const intercept = (_request: Request, index: number) =>
    index > 0 ? new Response('', { status: 503 }) : undefined
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }], intercept })
  expect(await ended(clientOf(gateway).chat.stream(QUESTION).text())).toMatchObject({
    reason: { constructor: ConnectionError, callId: CALL_ID, cause: { status: 503 } },
  })
  expect(gateway.requests).toHaveLength(3)
})

test('what the gateway refuses is thrown as it is, with what names the call', async () => {
  const unknown = { code: 404, msg: '', detail: '', reason: 'call_not_found', request_id: 'r' }
  const intercept = (_request: Request, index: number) =>
    index === 1 ? Response.json(unknown, { status: 404 }) : undefined
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }], intercept })
  expect(await ended(clientOf(gateway).chat.stream(QUESTION).text())).toMatchObject({
    reason: {
      constructor: NotFoundError,
      reason: 'call_not_found',
      callId: CALL_ID,
      lastEventId: wholeEvents(150),
    },
  })
})

test.each(['stopped', 'interrupted', 'agent_error'])(
  'a stream that ends with %s is not resumed',
  async (code) => {
    const error = JSON.stringify({ error: { message: 'no', type: 'server_error', code, param: null } })
    const gateway = new ScriptedGateway({ events: [chunk('He'), error] })
    const result = await ended(clientOf(gateway).chat.stream(QUESTION).text())
    expect(result).toMatchObject({ reason: { constructor: StreamFailedError, reason: code } })
    expect(gateway.log).toEqual(['POST /chat'])
  },
)

test('a stream without numbers, of a server that keeps no calls, fails as any other', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }], hasIds: false })
  const result = await ended(clientOf(gateway).chat.stream(QUESTION).text())
  expect(result).toMatchObject({ reason: { constructor: ConnectionError } })
  expect(gateway.log).toEqual(['POST /chat'])
})

test('a call that is not kept has no key, and is not resumed', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }] })
  const result = await ended(
    clientOf(gateway)
      .chat.stream({ ...QUESTION, keep: false })
      .text(),
  )
  expect(result).toMatchObject({ reason: { constructor: ConnectionError } })
  expect(gateway.log).toEqual(['POST /chat'])
  expect(gateway.requests[0]?.headers.has('idempotency-key')).toBe(false)
})

test('what is passed on to a visitor is whole, without numbers', async () => {
  const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }] })
  const response = clientOf(gateway).chat.stream(QUESTION).toResponse()
  expect(await resultOf(response.text())).toBe(new TextDecoder().decode(streamOf(EVENTS, { hasIds: false })))
  const parts = clientOf(new ScriptedGateway({ cuts: [{ bytes: 150 }] })).chat.stream(QUESTION)
  const deltas = (await resultOf(parts.toUIMessageStreamResponse().text())).matchAll(/"delta":"(.*?)"/g)
  expect([...deltas].map(([, delta]) => delta).join('')).toBe(TEXT)
})
