import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import type { ExecutionResult } from 'graphql'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SharedStreams } from './shared-streams.ts'

const TIMES = { headerHoldMs: 1_000, keepAliveMs: 60_000 }
const LIMITS = { perCredential: 2, operationsPerStream: 2, openWithinMs: 10_000 }

/** A client that reads everything at once. */
class Client extends EventEmitter {
  text = ''
  destroyed = false
  readonly socket = null
  writeHead(): void {}
  flushHeaders(): void {}
  write(text: string): boolean {
    this.text += text
    return true
  }
  end(): void {
    this.leave()
  }
  leave(): void {
    if (!this.destroyed) {
      this.destroyed = true
      this.emit('close')
    }
  }
}

function replyTo(client: Client): FastifyReply {
  return { raw: client, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply
}

const never = () => new Promise<ExecutionResult>(() => undefined)

describe('shared streams', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => vi.useRealTimers())

  test('a reservation that no stream follows is dropped, with its operations', async () => {
    const streams = new SharedStreams(TIMES, LIMITS)
    const token = streams.reserve('key:1')
    let left: AbortSignal | undefined
    void streams.find(token).run('1', (signal) => {
      left = signal
      return never()
    })
    vi.advanceTimersByTime(LIMITS.openWithinMs)
    expect(left?.aborted).toBe(true)
    expect(streams.size).toBe(0)
    expect(() => streams.find(token)).toThrow(expect.objectContaining({ reason: 'stream_not_found' }))
  })

  test('a stream that was opened stays, and makes room when its client leaves', () => {
    const streams = new SharedStreams(TIMES, LIMITS)
    const [first] = [streams.reserve('key:1'), streams.reserve('key:1')]
    expect(() => streams.reserve('key:1')).toThrow(expect.objectContaining({ reason: 'rate_limited' }))
    streams.reserve('key:2')
    const client = new Client()
    streams.open(first, replyTo(client))
    vi.advanceTimersByTime(LIMITS.openWithinMs)
    expect(streams.size).toBe(1)
    client.leave()
    expect(streams.size).toBe(0)
  })

  test('results of operations that ran before the stream was open arrive, each under its id', async () => {
    const streams = new SharedStreams(TIMES, LIMITS)
    const token = streams.reserve('key:1')
    const running = ['a', 'b'].map((id) =>
      streams.find(token).run(id, () => Promise.resolve({ data: { id } })),
    )
    const client = new Client()
    streams.open(token, replyTo(client))
    await Promise.all(running)
    for (const id of ['a', 'b']) {
      expect(client.text).toContain(`event: next\ndata: {"id":"${id}","payload":{"data":{"id":"${id}"}}}\n\n`)
      expect(client.text).toContain(`event: complete\ndata: {"id":"${id}"}\n\n`)
    }
    streams.close()
    expect(client.destroyed).toBe(true)
  })

  test('a stream carries a bounded number of operations, and an end makes room', async () => {
    const stream = new SharedStreams(TIMES, LIMITS)
    const shared = stream.find(stream.reserve('key:1'))
    void shared.run('1', never)
    void shared.run('2', never)
    expect(() => shared.run('3', never)).toThrow(expect.objectContaining({ reason: 'rate_limited' }))
    shared.leave('1')
    void shared.run('3', never)
    stream.close()
  })
})
