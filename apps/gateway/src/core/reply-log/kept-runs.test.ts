import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TakeEvents } from '#core/agents/events.ts'
import { PAUSED_MS_MAX } from './flush-pause.ts'
import type { KeptForm } from './kept-form.ts'
import type { ReplyEnding, ReplyToKeep } from './kept-run.ts'
import { KeptRuns } from './kept-runs.ts'
import type { EndOfReply, StoredPart } from './store/reply-writer.ts'

const KIB = 1024
const MIB = 1024 * KIB

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A platform that sends as fast as it is read. */
class Platform implements ReplyToKeep {
  ending: ReplyEnding | undefined
  /** How often it has waited to be read. */
  waits = 0
  isWaiting = false
  readonly #over = Promise.withResolvers<void>()
  readonly #pieces: string[]
  readonly #endsByItself: boolean

  constructor(pieces: readonly string[], endsByItself = true) {
    this.#pieces = [...pieces]
    this.#endsByItself = endsByItself
  }

  get left(): number {
    return this.#pieces.length
  }

  async read(take: TakeEvents): Promise<void> {
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) {
      const taking = take([{ type: 'text', text: piece }])
      if (taking === undefined) continue
      this.waits += 1
      this.isWaiting = true
      await taking
      this.isWaiting = false
      if (this.ending !== undefined) return
    }
    if (!this.#endsByItself) return await this.#over.promise
    this.ending = { outcome: 'done', leftNoTurn: false }
    take([{ type: 'end', reason: 'stop' }])
  }

  stop(): void {
    this.ending = { outcome: 'client_gone', leftNoTurn: false }
  }

  leave(): void {
    this.stop()
  }
}

function formOf(): KeptForm {
  return {
    hasIds: true,
    encode: (event) => (event.type === 'text' ? `data: ${event.text}\n\n` : 'data: [DONE]\n\n'),
    fail: ({ reason }) => `data: ${reason}\n\n`,
    collector: { add: () => undefined, heldBytes: 0, reply: '' },
    serialize: () => '""',
  }
}

const pieces = (count: number, bytes = 64 * KIB) => Array.from({ length: count }, () => 'x'.repeat(bytes))

function processOf({ append = async () => {}, end = async () => {} }: Partial<FakeDatabase> = {}) {
  const lost: string[] = []
  const stored: StoredPart[] = []
  const ends: EndOfReply[] = []
  const runs = new KeptRuns({
    store: {
      async append(parts) {
        await append(parts)
        stored.push(...parts)
        return []
      },
      async end(each, parts) {
        await end(each)
        stored.push(...parts)
        ends.push(each)
        return true
      },
      lose: async () => undefined,
      stopped: async () => [],
      haveReaders: async (callIds) => callIds,
    },
    wakeUps: { listen: () => () => undefined, send: () => undefined } as never,
    runtime: { elapsedMs: () => performance.now() },
    bounds: { bytesMax: 8 * MIB, replyBytesMax: 8 * MIB, headerHoldMs: 0, graceMs: 60_000 },
    observer: { lost: (callId) => lost.push(callId), grown: () => undefined, storable: () => undefined },
  })
  let count = 0
  const start = (reply: Platform) => {
    count += 1
    const call = { callId: `call-${count}`, keyId: 'key', ownerId: 'owner', stream: true }
    const run = runs.start(call, { reply, form: formOf() })
    const received: string[] = []
    let last = 0
    const read = () => {
      const events = run.read(last)
      if (events === undefined) return
      last += events.count
      received.push(events.text)
    }
    read()
    run.onChange(read)
    return { run, reply, callId: call.callId, received: () => received.join('') }
  }
  /** What the database has of a call. A part may be stored twice, as it was. */
  const log = (callId: string) => {
    const parts = new Map(stored.filter((part) => part.callId === callId).map((part) => [part.first, part]))
    return [...parts.values()]
      .sort((a, b) => a.first - b.first)
      .map(({ text }) => text)
      .join('')
  }
  return { start, lost, stored, ends, log }
}

interface FakeDatabase {
  append(parts: readonly StoredPart[]): Promise<void>
  end(end: EndOfReply): Promise<void>
}

const never = () => new Promise<never>(() => undefined)
const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 400))

test('the platform is not read while more than 1 MiB waits to be stored, so that the log is whole', async () => {
  const here = processOf({ append: slow })
  const call = here.start(new Platform(pieces(60)))
  let unstoredMax = 0
  for (let ms = 0; ms < 10_000; ms += 50) {
    await vi.advanceTimersByTimeAsync(50)
    unstoredMax = Math.max(unstoredMax, call.run.unstoredBytes)
  }
  expect(call.reply.waits).toBeGreaterThan(1)
  expect(unstoredMax).toBeLessThan(MIB + 65 * KIB)
  expect(here.ends).toMatchObject([{ outcome: 'done', isLost: false }])
  expect(here.lost).toEqual([])
  // As a boolean, because a difference of megabytes is not readable.
  expect(here.log(call.callId) === call.received()).toBe(true)
})

test('a database that does not answer holds the platform only so long, and then the log is lost and the call goes on', async () => {
  const here = processOf({ append: never, end: never })
  const call = here.start(new Platform(pieces(60)))
  await vi.advanceTimersByTimeAsync(PAUSED_MS_MAX - 500)
  expect(call.reply).toMatchObject({ isWaiting: true, waits: 1 })
  expect(call.run.isLost).toBe(false)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(call.reply).toMatchObject({ isWaiting: false, waits: 1, left: 0 })
  expect(call.run).toMatchObject({ isLost: true, unstoredBytes: 0 })
  // The end is shown after a while, too.
  await vi.advanceTimersByTimeAsync(2_100)
  expect(call.run.end).toMatchObject({ kind: 'own' })
  expect(call.received().slice(-50)).toContain('[DONE]')
  expect(call.received().match(/^id: /gm)).toHaveLength(61)
})

test('the pauses of a call are bounded together, so that a slow database does not hold its readers again and again', async () => {
  // Never fails, and stores 1 MiB in three seconds.
  const here = processOf({ append: () => new Promise((resolve) => setTimeout(resolve, 3_000)) })
  const call = here.start(new Platform(pieces(100)))
  let waitedMs = 0
  for (let ms = 0; ms < 60_000; ms += 50) {
    if (call.reply.isWaiting) waitedMs += 50
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(call.reply.waits).toBeGreaterThan(1)
  expect(waitedMs).toBeLessThan(PAUSED_MS_MAX + 500)
  expect(here.lost).toEqual([call.callId])
})

test('beyond the bound of the process the log is lost whose platform has waited longest, and no small one', async () => {
  const here = processOf({ append: never, end: never })
  const small = here.start(new Platform(pieces(3), false))
  const large = []
  for (let count = 0; count < 66; count += 1) {
    large.push(here.start(new Platform(pieces(20), false)))
    await vi.advanceTimersByTimeAsync(1)
  }
  const unstored = [small, ...large].reduce((sum, { run }) => sum + run.unstoredBytes, 0)
  expect(unstored).toBeLessThanOrEqual(64 * MIB)
  const lost = large.map(({ run }) => run.isLost)
  const count = lost.filter(Boolean).length
  expect(count).toBeGreaterThan(0)
  expect(lost.slice(0, count)).not.toContain(false)
  expect(large[0]?.reply).toMatchObject({ isWaiting: false, left: 0 })
  expect(small.run.isLost).toBe(false)
})

test('a call that is ended while its platform waits does not wait longer', async () => {
  const here = processOf({ append: never })
  const call = here.start(new Platform(pieces(60), false))
  await vi.advanceTimersByTimeAsync(300)
  expect(call.reply.isWaiting).toBe(true)
  call.run.stop()
  await vi.advanceTimersByTimeAsync(300)
  expect(call.reply.isWaiting).toBe(false)
  expect(here.ends).toHaveLength(1)
})

test('ends that cannot be stored wait for room only so long, and then without their replies', async () => {
  let answers = false
  const here = processOf({
    end: async () => {
      if (!answers) throw new Error('no answer')
    },
  })
  const calls = Array.from({ length: 20 }, () => here.start(new Platform(pieces(1, 7 * MIB))))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(calls.every(({ run }) => run.end !== undefined)).toBe(true)
  expect(here.lost.length).toBeGreaterThan(0)
  answers = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(here.ends).toHaveLength(20)
  expect(here.ends.filter(({ isLost }) => isLost).map(({ callId }) => callId)).toEqual(here.lost)
  expect(here.stored.reduce((sum, { text }) => sum + text.length, 0)).toBeGreaterThan(40 * MIB)
})
