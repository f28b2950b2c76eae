import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChatEvent, ChatEvents, TakeEvents } from '#core/agents/events.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createUpstream, type Upstream } from '#core/agents/upstream/upstream.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { type StartedReply, startReply } from '#core/calls/reply.test-support.ts'
import { replyIterator } from './reply-iterator.ts'

const say = (text: string): ChatEvent => ({ type: 'text', text })
const end: ChatEvent = { type: 'end', reason: 'stop' }

/** The events themselves. */
const iterate = (events: ChatEvents) => replyIterator(events, (event) => [event])

/** A reply whose batches are sent by the test. */
class GivenReply implements ChatEvents {
  reads = 0
  hasLeft = false
  readonly #taker = Promise.withResolvers<TakeEvents>()
  readonly #over = Promise.withResolvers<void>()

  constructor() {
    markRejectionHandled(this.#over.promise)
  }

  read(take: TakeEvents): Promise<void> {
    this.reads += 1
    this.#taker.resolve(take)
    return this.#over.promise
  }

  leave(): void {
    this.hasLeft = true
    this.#over.reject(new Problem('draining'))
  }

  /** Resolves when the consumer has taken the batch and calls `next` again. */
  async give(...batch: readonly ChatEvent[]): Promise<void> {
    const take = await this.#taker.promise
    await take(batch)
  }

  end(): void {
    this.#over.resolve()
  }

  fail(error: Error): void {
    this.#over.reject(error)
  }
}

/** Whether a promise is settled after all pending work has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([promise.then(() => true), turn])
}

describe('a reply as an iterator', () => {
  test('returns the events one by one and ends', async () => {
    const reply = new GivenReply()
    const giving = (async () => {
      await reply.give(say('a'), say('b'))
      await reply.give(end)
      reply.end()
    })()
    const seen: ChatEvent[] = []
    for await (const event of iterate(reply)) seen.push(event)
    await giving
    expect(seen).toEqual([say('a'), say('b'), end])
    expect(reply.hasLeft).toBe(false)
  })

  test('sends no request before the first next', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    expect(reply.reads).toBe(0)
    const first = iterator.next()
    expect(reply.reads).toBe(1)
    const given = reply.give(say('a'))
    expect(await first).toEqual({ done: false, value: say('a') })
    expect(await isSettled(given)).toBe(false)
  })

  test('does not read the next batch until all events of the last one were returned and next is called again', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    const first = iterator.next()
    const given = reply.give(say('a'), say('b'))
    await first
    expect(await isSettled(given)).toBe(false)
    await iterator.next()
    expect(await isSettled(given)).toBe(false)
    const third = iterator.next()
    expect(await isSettled(given)).toBe(true)
    expect(await isSettled(third)).toBe(false)
  })

  test('resolves concurrent calls of next in their order', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    const results = [iterator.next(), iterator.next(), iterator.next()]
    await reply.give(say('a'), say('b'))
    reply.end()
    expect(await Promise.all(results)).toEqual([
      { done: false, value: say('a') },
      { done: false, value: say('b') },
      { done: true, value: undefined },
    ])
  })

  test('rejects once with the problem of the reply, after the events before it', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    const first = iterator.next()
    void reply.give(say('a'), say('b'))
    await first
    const problem = new Problem('agent_timeout')
    reply.fail(problem)
    await new Promise(setImmediate)
    expect(await iterator.next()).toEqual({ done: false, value: say('b') })
    await expect(iterator.next()).rejects.toBe(problem)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test('rejects a pending call of next', async () => {
    const reply = new GivenReply()
    const waiting = iterate(reply).next()
    const problem = new Problem('agent_unreachable')
    reply.fail(problem)
    await expect(waiting).rejects.toBe(problem)
  })

  test('cancels the call if the loop breaks', async () => {
    const reply = new GivenReply()
    const given = reply.give(say('a'), say('b'))
    for await (const event of iterate(reply)) {
      expect(event).toEqual(say('a'))
      break
    }
    expect(reply.hasLeft).toBe(true)
    expect(await isSettled(given)).toBe(true)
  })

  test('cancels the call if the body of the loop throws, and rejects with that error', async () => {
    const reply = new GivenReply()
    void reply.give(say('a'))
    const loop = async () => {
      for await (const event of iterate(reply)) throw new Error(event.type)
    }
    await expect(loop()).rejects.toThrow('text')
    expect(reply.hasLeft).toBe(true)
  })

  test('cancels the call if throw is called, and rejects with that error', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    await expect(iterator.throw?.(new Error('enough'))).rejects.toThrow('enough')
    expect(reply).toMatchObject({ hasLeft: true, reads: 0 })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test('ends without an error if return is called after a failure that was not read', async () => {
    const reply = new GivenReply()
    const iterator = iterate(reply)
    const first = iterator.next()
    void reply.give(say('a'), say('b'))
    await first
    reply.fail(new Problem('draining'))
    await new Promise(setImmediate)
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })
})

describe('over a real reply', () => {
  let answer: (response: ServerResponse) => unknown
  let server: Server
  let upstream: Upstream

  beforeEach(async () => {
    server = createServer((request, response) => {
      request.resume()
      answer(response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    upstream = createUpstream({ replyBytesMax: 1 << 20, unsentBytesMax: 1 << 16 })
  })
  afterEach(async () => {
    await upstream.close()
    server.closeAllConnections()
    server.close()
  })

  function start(): StartedReply {
    const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 5_000 }
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    return startReply({ agent: agentOf('openai', { baseUrl, options: { model: 'm' }, timeouts }), upstream })
  }

  const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

  test('a consumer that leaves while the platform is silent ends the call at once and stops the platform', async () => {
    const closed = Promise.withResolvers<void>()
    answer = (response) => {
      response.on('close', closed.resolve)
      response.write(chunk('a'))
    }
    const { reply, ends } = start()
    const iterator = iterate(reply)
    expect(await iterator.next()).toEqual({ done: false, value: say('a') })
    const silent = iterator.next()
    await iterator.return?.()
    expect(await silent).toEqual({ done: true, value: undefined })
    await closed.promise
    expect(ends.map(({ outcome }) => outcome)).toEqual(['client_gone'])
  })

  test('a second reader is rejected, and the first continues', async () => {
    let requests = 0
    answer = (response) => {
      requests += 1
      response.end(`${chunk('a')}data: [DONE]\n\n`)
    }
    const { reply } = start()
    const first = iterate(reply).next()
    await expect(iterate(reply).next()).rejects.toThrow('only once')
    expect(await first).toEqual({ done: false, value: say('a') })
    expect(requests).toBe(1)
  })
})
