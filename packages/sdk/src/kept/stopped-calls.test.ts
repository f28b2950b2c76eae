import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AbortError, Trunkline, TrunklineError } from '../index.ts'
import { settle } from '../transport/open-body.test-support.ts'
import {
  CALL_ID,
  EVENTS,
  ended,
  REPLY,
  resultOf,
  ScriptedGateway,
  streamOf,
} from './scripted-gateway.test-support.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const QUESTION = { agent: 'dify', query: 'Hello', idempotencyKey: 'key/1' } as const
const STOP = `POST /calls/${CALL_ID}/stop`

const clientOf = (gateway: ScriptedGateway) =>
  new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_key', fetch: gateway.fetch })

/** A gateway whose call has sent two events and is still running. */
const running = () =>
  new ScriptedGateway({ cuts: [{ bytes: streamOf(EVENTS.slice(0, 2)).length, by: 'silence' }] })

async function firstChunk(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) return
}

describe('a kept stream', () => {
  test('that is aborted is stopped once, by a request that outlives its page', async () => {
    const gateway = running()
    const stream = clientOf(gateway).chat.stream(QUESTION)
    const chunks = stream[Symbol.asyncIterator]()
    await chunks.next()
    stream.abort('enough')
    stream.abort()
    await expect(chunks.next()).rejects.toMatchObject({ constructor: AbortError, cause: 'enough' })
    await settle()
    expect(gateway.log).toEqual(['POST /chat', STOP])
    expect(gateway.requests[1]?.keepalive).toBe(true)
    expect(gateway.requests[1]?.headers.get('authorization')).toBe('Bearer tl_key')
  })

  test('is stopped by its signal, by its key while its id is not known', async () => {
    const intercept = ({ signal, url }: Request) =>
      url.endsWith('/chat')
        ? new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          })
        : undefined
    const gateway = new ScriptedGateway({ intercept })
    const controller = new AbortController()
    const text = clientOf(gateway).chat.stream(QUESTION, { signal: controller.signal }).text()
    await settle()
    controller.abort()
    await expect(text).rejects.toBeInstanceOf(AbortError)
    await settle()
    expect(gateway.log).toEqual(['POST /chat', 'POST /calls/key%3Akey%2F1/stop'])
  })

  test('that was never sent has nothing to stop', async () => {
    const gateway = running()
    const client = clientOf(gateway)
    const stream = client.chat.stream(QUESTION)
    stream.abort()
    await expect(stream.text()).rejects.toBeInstanceOf(AbortError)
    await expect(client.chat.create(QUESTION, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
      AbortError,
    )
    await settle()
    expect(gateway.requests).toEqual([])
  })

  test('that has ended is not stopped', async () => {
    const gateway = new ScriptedGateway()
    const stream = clientOf(gateway).chat.stream(QUESTION)
    await stream.text()
    stream.abort()
    await stream.stop()
    expect(gateway.log).toEqual(['POST /chat'])
  })

  test('goes on where its loop is left, until it is stopped', async () => {
    const gateway = running()
    const stream = clientOf(gateway).chat.stream(QUESTION)
    await firstChunk(stream)
    await settle()
    expect(gateway.log).toEqual(['POST /chat'])
    await stream.stop()
    await stream.stop()
    expect(gateway.log).toEqual(['POST /chat', STOP])
  })

  test('goes on where its block is left, and where a visitor to whom it is passed on leaves', async () => {
    const gateway = running()
    {
      await using stream = clientOf(gateway).chat.stream(QUESTION)
      await stream[Symbol.asyncIterator]().next()
    }
    const visited = running()
    const reader = clientOf(visited).chat.stream(QUESTION).toResponse().body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await settle()
    expect([...gateway.log, ...visited.log]).toEqual(['POST /chat', 'POST /chat'])
  })

  test('whose stop gets lost says so, and can be stopped again', async () => {
    let isDown = true
    const intercept = ({ url }: Request) => {
      if (isDown && url.endsWith('/stop')) throw new TypeError('fetch failed')
      return undefined
    }
    const gateway = new ScriptedGateway({ intercept })
    const stream = clientOf(gateway).chat.stream(QUESTION)
    await firstChunk(stream)
    expect(await ended(stream.stop())).toMatchObject({ status: 'rejected' })
    isDown = false
    await stream.stop()
    expect(gateway.stops).toBe(1)
  })

  test('that is aborted while it waits to resume is not resumed', async () => {
    const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }] })
    const stream = clientOf(gateway).chat.stream(QUESTION)
    const text = ended(stream.text())
    const [, timers] = [await settle(), vi.getTimerCount()]
    expect(timers).toBeGreaterThanOrEqual(0)
    stream.abort()
    expect(await text).toMatchObject({ reason: { constructor: AbortError } })
    expect(gateway.log.filter((line) => line.startsWith('GET'))).toEqual([])
    expect(gateway.stops).toBe(1)
  })
})

test('a kept call without a stream is repeated with its key, and stopped by its signal', async () => {
  const gateway = new ScriptedGateway({
    intercept: (_request, index) => {
      if (index === 0) throw new TypeError('fetch failed')
      return undefined
    },
  })
  const reply = await resultOf(clientOf(gateway).chat.create(QUESTION))
  expect([reply.text, reply.callId]).toEqual(['Hé🎉lo', CALL_ID])
  expect(gateway.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['key/1', 'key/1'])

  const waiting = new ScriptedGateway({
    intercept: ({ signal, url }) =>
      url.endsWith('/chat')
        ? new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          })
        : undefined,
  })
  const controller = new AbortController()
  const call = clientOf(waiting).chat.create(QUESTION, { signal: controller.signal })
  await settle()
  controller.abort()
  await expect(call).rejects.toBeInstanceOf(AbortError)
  await settle()
  expect(waiting.log).toEqual(['POST /chat', 'POST /calls/key%3Akey%2F1/stop'])
})

test('a kept call without a stream whose connection stays lost says how to go on', async () => {
  const gateway = new ScriptedGateway({
    intercept: () => {
      throw new TypeError('fetch failed')
    },
  })
  expect(await ended(clientOf(gateway).chat.create(QUESTION))).toMatchObject({
    reason: { message: expect.stringContaining('client.calls.reply'), idempotencyKey: 'key/1' },
  })
  expect(gateway.requests).toHaveLength(3)
})

describe('client.calls', () => {
  test('resumes by id or key, from the first event or after one', async () => {
    const gateway = new ScriptedGateway()
    const { calls } = clientOf(gateway)
    expect((await calls.resume('call-1').final()).text).toBe('Hé🎉lo')
    expect(await calls.resume({ idempotencyKey: 'key/1' }, { after: 2 }).text()).toBe('lo')
    expect(gateway.log).toEqual(['GET /calls/call-1/stream', 'GET /calls/key%3Akey%2F1/stream 2'])
  })

  test('resumes a stream that breaks again', async () => {
    const gateway = new ScriptedGateway({ cuts: [{ bytes: 150 }] })
    expect(await resultOf(clientOf(gateway).calls.resume('call-1').text())).toBe('Hé🎉lo')
    expect(gateway.requests).toHaveLength(2)
  })

  test('resumes after the last event of a call that has ended with nothing', async () => {
    const gateway = new ScriptedGateway()
    expect(await resultOf(clientOf(gateway).calls.resume('call-1', { after: EVENTS.length }).text())).toBe('')
    const stream = 'GET /calls/call-1/stream 6'
    expect(gateway.log).toEqual([stream, 'GET /calls/call-1/reply', stream])
  })

  test('goes on with a call that runs, of which a gateway that restarts has sent nothing', async () => {
    const gateway = new ScriptedGateway({ cuts: [{ bytes: 0, by: 'close' }], isRunning: true })
    expect(await resultOf(clientOf(gateway).calls.resume('call-1', { after: 2 }).text())).toBe('lo')
  })

  test('aborting what was resumed stops the call', async () => {
    const gateway = running()
    const stream = clientOf(gateway).calls.resume('call-1')
    await stream[Symbol.asyncIterator]().next()
    stream.abort()
    await settle()
    expect(gateway.stops).toBe(1)
  })

  test('stops a call and tells how it ended', async () => {
    const gateway = new ScriptedGateway()
    const { data } = await clientOf(gateway).calls.stop('call-1').withResponse()
    expect(data).toEqual({ call_id: CALL_ID, outcome: null })
    expect(gateway.log).toEqual([STOP])
  })

  test('stops a call by its id with the token, and by its Idempotency-Key with the key that made it', async () => {
    const gateway = new ScriptedGateway()
    const options = { baseURL: 'http://gateway.test', accessToken: 'a-token', fetch: gateway.fetch }
    const both = new Trunkline({ ...options, apiKey: 'tl_key' })
    await both.calls.stop('call-1')
    await both.calls.stop({ idempotencyKey: 'key/1' })
    await new Trunkline(options).calls.stop('call-1')
    expect(gateway.requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer a-token',
      'Bearer tl_key',
      'Bearer a-token',
    ])
  })

  test('reads a reply, or says that the call is running', async () => {
    const reply = await clientOf(new ScriptedGateway()).calls.reply('call-1')
    expect(reply).toEqual(REPLY)
    expect(reply.status ?? reply.text).toBe('Hé🎉lo')
    const running = await clientOf(new ScriptedGateway({ isRunning: true })).calls.reply('call-1')
    expect(running).toEqual({ status: 'running', callId: CALL_ID, retryAfterMs: 3_000 })
  })

  test('waits for a reply as often as the gateway wants it, and no longer than its signal', async () => {
    const early = { status: 202, headers: { 'retry-after': '3' } }
    const gateway = new ScriptedGateway({
      intercept: (_request, index) => (index < 2 ? Response.json({ data: {} }, early) : undefined),
    })
    const before = Date.now()
    expect((await resultOf(clientOf(gateway).calls.reply('call-1', { wait: true }))).text).toBe('Hé🎉lo')
    expect(Date.now() - before).toBe(6_000)

    const waiting = new ScriptedGateway({ isRunning: true })
    const controller = new AbortController()
    const { signal } = controller
    const call = clientOf(waiting).calls.reply('call-1', { wait: true, signal })
    await settle()
    controller.abort()
    await expect(call).rejects.toBeInstanceOf(AbortError)
    expect(waiting.log).toEqual(['GET /calls/call-1/reply'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('deletes a reply, also one that an attempt without an answer has deleted', async () => {
    const gone = { code: 410, msg: '', detail: '', reason: 'reply_gone', request_id: 'r' }
    const gateway = new ScriptedGateway({
      intercept: (_request, index) => {
        if (index === 1) throw new TypeError('fetch failed')
        return index === 2 ? Response.json(gone, { status: 410 }) : undefined
      },
    })
    const { calls } = clientOf(gateway)
    await calls.deleteReply('call-1')
    await resultOf(calls.deleteReply({ idempotencyKey: 'k' }))
    expect(gateway.log).toEqual([
      'DELETE /calls/call-1/reply',
      'DELETE /calls/key%3Ak/reply',
      'DELETE /calls/key%3Ak/reply',
    ])
  })

  test.each(['', '.', '..'])('refuses the id %j', async (id) => {
    const gateway = new ScriptedGateway()
    await expect(clientOf(gateway).calls.stop(id)).rejects.toMatchObject({ constructor: TrunklineError })
    expect(gateway.requests).toEqual([])
  })

  test.each([-1, 1.5, Number.NaN])('refuses to resume after %d', async (after) => {
    const text = clientOf(new ScriptedGateway()).calls.resume('call-1', { after }).text()
    await expect(text).rejects.toMatchObject({ constructor: TrunklineError })
  })
})
