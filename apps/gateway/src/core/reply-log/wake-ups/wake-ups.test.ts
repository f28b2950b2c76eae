import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Subscription } from '#core/database/database.ts'
import type { Channel } from './channel.ts'
import { createWakeUps, sharedWakeUps } from './create-wake-ups.ts'
import { readMessage, shortId, writeMessages } from './messages.ts'
import type { WakeUps } from './wake-ups.ts'

const id = randomUUIDv7()

/** A server that passes messages on in the same turn, unless a test changes that. */
class FakeServer implements Channel {
  readonly idsPerMessage = 250
  canPublish = true
  /** Whether it delivers what it accepts. */
  delivers = true
  /** What it does before it accepts a batch. */
  accept: () => Promise<void> = () => Promise.resolve()
  readonly batches: (readonly string[])[] = []
  readonly open: { hear(message: string): void; lose(): void }[] = []

  async publish(messages: readonly string[]): Promise<void> {
    await this.accept()
    this.batches.push(messages)
    if (!this.delivers) return
    for (const { hear } of this.open) for (const message of messages) hear(message)
  }

  subscribe(hear: (message: string) => void): Subscription {
    const end = Promise.withResolvers<void>()
    const subscription = { hear, lose: () => remove() }
    const remove = () => {
      const at = this.open.indexOf(subscription)
      if (at >= 0) this.open.splice(at, 1)
      end.resolve()
    }
    this.open.push(subscription)
    return { opened: Promise.resolve(), ended: end.promise, close: async () => remove() }
  }
}

describe('in one process', () => {
  const wakeUps = createWakeUps({
    database: { sql: { query: () => Promise.reject(new Error('needs no database')) } },
    installation: () => 'one',
    runtime: systemRuntime,
    observer: { wakeUpsArrive: () => undefined },
  })

  test('a listener is woken at once, for its call and its kind, until it ends', () => {
    expect(wakeUps.isTrusted).toBe(true)
    const wake = vi.fn()
    const end = wakeUps.listen('stop', id, wake)
    wakeUps.send('stop', [randomUUIDv7(), id])
    wakeUps.send('log', [id])
    expect(wake).toHaveBeenCalledTimes(1)
    end()
    wakeUps.send('stop', [id])
    expect(wake).toHaveBeenCalledTimes(1)
  })

  test('the end of one listener leaves the others, also the same function', () => {
    const wake = vi.fn()
    const ends = [wakeUps.listen('log', id, wake), wakeUps.listen('log', id, wake)]
    ends[0]?.()
    ends[0]?.()
    wakeUps.send('log', [id])
    expect(wake).toHaveBeenCalledTimes(1)
    ends[1]?.()
  })

  test('a faulty listener keeps no other asleep, and one that listens again when it is woken is woken once', () => {
    const wake = vi.fn()
    const ends = [
      wakeUps.listen('log', id, () => {
        throw new Error('faulty')
      }),
      wakeUps.listen('log', id, () => ends.push(wakeUps.listen('log', id, wake))),
    ]
    wakeUps.send('log', [id])
    expect(wake).not.toHaveBeenCalled()
    for (const end of ends) end()
  })
})

describe('through a server', () => {
  let server: FakeServer
  const opened: WakeUps[] = []
  const told = vi.fn<(arrive: boolean, error?: unknown) => void>()

  beforeEach(() => {
    vi.useFakeTimers()
    server = new FakeServer()
    told.mockReset()
  })
  afterEach(async () => {
    for (const wakeUps of opened.splice(0)) await wakeUps.close()
    expect(server.open).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  function start(): WakeUps {
    const wakeUps = sharedWakeUps({
      channel: server,
      runtime: systemRuntime,
      observer: { wakeUpsArrive: told },
    })
    opened.push(wakeUps)
    return wakeUps
  }
  const settled = () => vi.advanceTimersByTimeAsync(0)
  const idsOf = (batch: readonly string[] = []) => batch.flatMap((message) => readMessage(message)?.ids ?? [])

  test('nothing is open before something listens, and a minute after nothing does', async () => {
    const wakeUps = start()
    wakeUps.send('log', [id])
    await settled()
    expect(server.open).toHaveLength(0)
    const end = wakeUps.listen('log', id, () => undefined)
    await settled()
    expect([server.open.length, wakeUps.isTrusted]).toEqual([1, true])
    end()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([server.open.length, wakeUps.isTrusted]).toEqual([0, false])
    wakeUps.listen('log', id, () => undefined)
    await settled()
    expect(wakeUps.isTrusted).toBe(true)
    expect(told).not.toHaveBeenCalled()
  })

  test('a server that ceases to deliver is found by the test of each minute, and tried again ever more rarely', async () => {
    const wakeUps = start()
    wakeUps.listen('log', id, () => undefined)
    await settled()
    server.delivers = false
    await vi.advanceTimersByTimeAsync(60_900)
    expect(wakeUps.isTrusted).toBe(true)
    await vi.advanceTimersByTimeAsync(150)
    expect(wakeUps.isTrusted).toBe(false)
    const before = server.batches.length
    await vi.advanceTimersByTimeAsync(600_000)
    // Each try takes the second of the test, and the pause before it at most ten.
    expect(server.batches.length - before).toBeLessThan(70)
    expect(told.mock.calls).toEqual([[false, expect.any(Error)]])
    server.delivers = true
    await vi.advanceTimersByTimeAsync(11_000)
    expect(wakeUps.isTrusted).toBe(true)
    expect(told).toHaveBeenLastCalledWith(true, undefined)
  })

  test('a lost connection is replaced and tested before it is trusted', async () => {
    const wakeUps = start()
    const wake = vi.fn()
    wakeUps.listen('log', id, wake)
    await settled()
    server.open[0]?.lose()
    await settled()
    expect([server.open.length, wakeUps.isTrusted]).toEqual([0, false])
    server.delivers = false
    await vi.advanceTimersByTimeAsync(100)
    expect([server.open.length, wakeUps.isTrusted]).toEqual([1, false])
    server.delivers = true
    await vi.advanceTimersByTimeAsync(1_500)
    expect(wakeUps.isTrusted).toBe(true)
    start().send('log', [id])
    await settled()
    expect(wake).toHaveBeenCalledTimes(1)
  })

  test('it is not trusted while the connection for sending is lost', async () => {
    const wakeUps = start()
    wakeUps.listen('log', id, () => undefined)
    await settled()
    server.canPublish = false
    expect(wakeUps.isTrusted).toBe(false)
    server.canPublish = true
    expect(wakeUps.isTrusted).toBe(true)
  })

  test('while one batch is being sent, further calls wait for the next one, each once and a bounded number of them', async () => {
    const wakeUps = start()
    const held = Promise.withResolvers<void>()
    server.accept = () => held.promise
    const ids = Array.from({ length: 12_000 }, () => randomUUIDv7())
    wakeUps.send('log', [id])
    for (let at = 0; at < ids.length; at += 1_000) {
      wakeUps.send('log', ids.slice(at, at + 1_000))
      wakeUps.send('log', ids.slice(at, at + 1_000))
    }
    wakeUps.send('stop', [id])
    held.resolve()
    await settled()
    const [first, second, ...others] = server.batches
    expect(others).toEqual([])
    expect(idsOf(first)).toEqual([shortId(id)])
    expect(idsOf(second)).toEqual([id, ...ids.slice(0, 10_000)].map(shortId))
  })

  test('what cannot be sent is dropped, and what comes later is sent', async () => {
    const wakeUps = start()
    const wake = vi.fn()
    wakeUps.listen('log', id, wake)
    server.accept = () => Promise.reject(new Error('down'))
    wakeUps.send('log', [randomUUIDv7()])
    server.accept = () => {
      throw new Error('down')
    }
    wakeUps.send('log', [id])
    expect(wake).toHaveBeenCalledTimes(1)
    await settled()
    server.accept = () => Promise.resolve()
    const last = randomUUIDv7()
    wakeUps.send('log', [last])
    await settled()
    expect(server.batches.flatMap(idsOf)).toEqual([shortId(last)])
  })

  test('messages of other versions and malformed ones are ignored', async () => {
    const wakeUps = start()
    const wake = vi.fn()
    wakeUps.listen('log', id, wake)
    await settled()
    const [message = ''] = writeMessages({ kind: 'log', sender: '--other-', ids: [shortId(id)] }, 250)
    for (const odd of [
      '',
      'l',
      'l--other',
      't',
      'x',
      `x${message.slice(1)}`,
      `${message}A`,
      message.slice(0, -1),
      '{}',
    ])
      server.open[0]?.hear(odd)
    expect(wake).not.toHaveBeenCalled()
    server.open[0]?.hear(message)
    expect(wake).toHaveBeenCalledTimes(1)
  })

  test('after the end, nothing is sent or opened', async () => {
    const wakeUps = start()
    await wakeUps.close()
    const wake = vi.fn()
    wakeUps.listen('log', id, wake)
    wakeUps.send('log', [id])
    await settled()
    expect(wake).toHaveBeenCalledTimes(1)
    expect([server.open, server.batches]).toEqual([[], []])
  })
})

test('a message of as many ids as go through PostgreSQL is smaller than it allows', () => {
  const ids = Array.from({ length: 501 }, () => shortId(randomUUIDv7()))
  const messages = writeMessages({ kind: 'log', sender: '12345678', ids }, 250)
  expect(messages.map((message) => message.length)).toEqual([5_509, 5_509, 31])
  expect(messages.flatMap((message) => readMessage(message)?.ids)).toEqual(ids)
})
