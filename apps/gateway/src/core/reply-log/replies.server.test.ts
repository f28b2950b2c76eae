import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChatEvent, TakeEvents } from '#core/agents/events.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { liveReaper } from '#core/ledger/ledger.test-support.ts'
import { withIds } from './event-text.ts'
import type { KeptForm } from './kept-form.ts'
import type { ReplyEnding, ReplyToKeep } from './kept-run.ts'
import { createReplies } from './replies.ts'
import type { FollowEnd } from './reply-readers.ts'
import { createReplyStore, type ReplyStore } from './store/reply-store.ts'
import { createWakeUps } from './wake-ups/create-wake-ups.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const END: ChatEvent = { type: 'end', reason: 'stop' }
const LAST = 'data: [DONE]\n\n'

const textOf = (event: ChatEvent) => (event.type === 'text' ? `data: ${event.text}\n\n` : LAST)
/** A log with these events. */
const logOf = (...texts: readonly string[]) =>
  withIds(texts.map((text) => `data: ${text}\n\n`).join(''), 0).text

/** The reply of an agent, written by a test. */
class WrittenReply implements ReplyToKeep {
  ending: ReplyEnding | undefined
  readonly asked: string[] = []
  readonly #ended = Promise.withResolvers<void>()
  #take: TakeEvents | undefined

  read(take: TakeEvents): Promise<void> {
    this.#take = take
    return this.#ended.promise
  }

  text(...texts: readonly string[]): void {
    this.#take?.(texts.map((text) => ({ type: 'text', text })))
  }

  finish(): void {
    this.ending = { outcome: 'done', leftNoTurn: false }
    this.#take?.([END])
    this.#ended.resolve()
  }

  fail(problem: Problem, ending: ReplyEnding = { outcome: 'upstream_error', leftNoTurn: false }): void {
    this.ending = ending
    this.#ended.reject(problem)
  }

  stop(): void {
    this.asked.push('stop')
    this.fail(new Problem('stopped'), { outcome: 'client_gone', leftNoTurn: false })
  }

  leave(): void {
    this.asked.push('leave')
    this.fail(new Problem('draining'), { outcome: 'client_gone', leftNoTurn: false })
  }
}

function plainForm(): KeptForm {
  let text = ''
  return {
    hasIds: true,
    encode: textOf,
    fail: ({ reason }) => `data: ${reason}\n\n`,
    collector: {
      add(event) {
        if (event.type === 'text') text += event.text
      },
      get heldBytes() {
        return text.length
      },
      get reply() {
        return text
      },
    },
    serialize: () => JSON.stringify(text),
  }
}

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let database: Database
  beforeAll(async () => {
    database = await openScratchDatabase(serverUrl)
  })
  afterAll(() => database.close())

  /** What one process has. */
  function processOf({
    store: more = {},
    graceMs = 60_000,
    bytesMax = 1_000_000,
    readersPerCallMax = 100,
  }: {
    store?: Partial<ReplyStore>
    graceMs?: number
    bytesMax?: number
    readersPerCallMax?: number
  } = {}) {
    const { sql } = database
    const bounds = { retentionHours: 24, bytesPerOwnerMax: 2 ** 30, bytesTotalMax: 2 ** 40 }
    const store = { ...createReplyStore({ database, randomBytes, secretKeys: {}, bounds }), ...more }
    const wakeUps = createWakeUps({
      // Without notifications: readers of other processes find out by looking.
      database: { sql },
      installation: () => 'test',
      runtime: systemRuntime,
      observer: { wakeUpsArrive: () => undefined },
    })
    const lost: string[] = []
    const replies = createReplies({
      store,
      wakeUps: { ...wakeUps, isTrusted: false },
      keyWatch: { watch: () => () => undefined },
      takeWrite: async () => undefined,
      runtime: systemRuntime,
      bounds: {
        bytesMax,
        graceMs,
        replyBytesMax: 1_000_000,
        headerHoldMs: 15_000,
        readersMax: 100,
        readersPerOwnerMax: 100,
        readersPerCallMax,
      },
      observer: { lost: (callId) => lost.push(callId), storable: () => undefined },
    })
    return { replies, store, wakeUps, lost }
  }
  type Process = ReturnType<typeof processOf>

  /** Begins a call in this process. */
  async function begin({ replies }: Process, { stream = true, instance = v7() } = {}) {
    const call = {
      callId: v7(),
      keyId: v7(),
      ownerId: v7(),
      face: 'rest',
      conversation: 'c',
      stream,
    } as const
    const keyHash = randomBytes(32)
    await database.sql.query(
      `INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [call.callId, call.keyId, call.ownerId, keyHash, call.face, call.conversation, stream, instance],
    )
    await database.sql.query(
      "INSERT INTO idempotency_keys (key_id, hash, fingerprint, call_id) VALUES ($1, $2, '', $3)",
      [call.keyId, keyHash, call.callId],
    )
    const reply = new WrittenReply()
    const first = replies.run(call, { reply, form: plainForm() })
    const attach = (process: Process) =>
      process.replies.attach({ attachedTo: call.callId, keyId: call.keyId, ownerId: call.ownerId })
    return { call, reply, first, attach }
  }

  const requestStop = ({ callId }: { readonly callId: string }) =>
    database.sql.query('UPDATE kept_calls SET stop_requested_at = now() WHERE call_id = $1', [callId])

  /** Follows a reply; `text` has what has come so far. */
  function follow(kept: { follow: Awaited<ReturnType<typeof begin>>['first']['follow'] }, after = 0) {
    const reader = { text: '', end: undefined as FollowEnd | undefined }
    const left = new AbortController()
    const over = kept
      .follow({
        after,
        signal: left.signal,
        canRefuse: () => reader.text === '',
        take(text) {
          reader.text += text
          return undefined
        },
      })
      .then((end) => {
        reader.end = end
        return end
      })
    over.catch(() => undefined)
    return Object.assign(reader, { over, leave: () => left.abort() })
  }

  test('every reader gets the same events, here at once and elsewhere from the database', async () => {
    const here = processOf()
    const elsewhere = processOf()
    const { reply, first, attach } = await begin(here)
    const one = follow(first)
    const other = follow(await attach(elsewhere))
    const late = follow(await attach(elsewhere), 1)
    reply.text('a', 'b')
    await vi.waitFor(() => expect(one.text).toBe(logOf('a', 'b')))
    await vi.waitFor(() => expect(other.text).toBe(logOf('a', 'b')), 5_000)
    reply.text('c')
    reply.finish()
    for (const reader of [one, other, late]) expect((await reader.over).kind).toBe('ended')
    expect(one.text).toBe(logOf('a', 'b', 'c', '[DONE]'))
    expect(other.text).toBe(one.text)
    expect(logOf('a') + late.text).toBe(one.text)
    expect(await (await attach(here)).whole(new AbortController().signal)).toBe('"abc"')
  })

  test('a reader that has fallen behind what is in memory goes on from the database, without a gap', async () => {
    const here = processOf()
    const { reply, first } = await begin(here)
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    let text = ''
    const over = first.follow({
      after: 0,
      signal: new AbortController().signal,
      take(more) {
        const isFirst = text === ''
        text += more
        return isFirst ? isReleased : undefined
      },
    })
    const words = Array.from({ length: 300 }, (_, number) => `${number}${'x'.repeat(1_000)}`)
    reply.text(words[0] ?? '')
    await vi.waitFor(() => expect(text).not.toBe(''))
    for (const word of words.slice(1)) {
      reply.text(word)
      await new Promise(setImmediate)
    }
    reply.finish()
    await vi.waitFor(async () => {
      const [found] = await here.store.read([{ callId: first.call.callId, after: 0 }])
      expect(found?.call.end).toBeDefined()
    }, 5_000)
    release()
    await over
    expect(text).toBe(logOf(...words, '[DONE]'))
  })

  test('the last event is shown when the end is stored, and what another process has written before counts', async () => {
    const here = processOf()
    const { call, reply, first } = await begin(here)
    const reader = follow(first)
    reply.text('a')
    await vi.waitFor(async () => {
      const [found] = await here.store.read([{ callId: call.callId, after: 0 }])
      expect(found?.parts).toHaveLength(1)
    }, 5_000)
    // Another process takes this one for dead: its instance has no lease.
    expect(await here.store.endDead(await liveReaper(database.sql))).toBe(1)
    reply.finish()
    const end = await reader.over
    expect(end).toMatchObject({ kind: 'ended', end: { outcome: 'interrupted', events: 1 } })
    expect(reader.text).toBe(logOf('a'))
  })

  test('a process that was taken for dead stops its run', async () => {
    const here = processOf()
    const { reply, first } = await begin(here)
    const reader = follow(first)
    reply.text('a')
    const reaper = await liveReaper(database.sql)
    await vi.waitFor(async () => expect(await here.store.endDead(reaper)).toBe(1), 5_000)
    reply.text('b')
    await vi.waitFor(() => expect(reply.asked).toEqual(['leave']), 5_000)
    expect(await reader.over).toMatchObject({ kind: 'ended', end: { outcome: 'interrupted' } })
  })

  test('while the database does not answer, readers get everything, and the log is whole when it is back', async () => {
    let answers = false
    const working = processOf().store
    const down = async () => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    }
    const here = processOf({
      store: {
        append: (parts) => (answers ? working.append(parts) : down()),
        end: (end, parts) => (answers ? working.end(end, parts) : down()),
      },
    })
    const { call, reply, first, attach } = await begin(here)
    const reader = follow(first)
    reply.text('a', 'b')
    await vi.waitFor(() => expect(reader.text).toBe(logOf('a', 'b')))
    reply.text('c')
    reply.finish()
    expect((await reader.over).kind).toBe('ended')
    expect(reader.text).toBe(logOf('a', 'b', 'c', '[DONE]'))
    answers = true
    await vi.waitFor(async () => {
      const [found] = await working.read([{ callId: call.callId, after: 0 }])
      expect(found?.call.end).toBeDefined()
    }, 10_000)
    const again = follow(await attach(processOf()))
    await again.over
    expect(again.text).toBe(reader.text)
  })

  test('a reply beyond its bound reaches its readers, and is gone for all who come later', async () => {
    const here = processOf({ bytesMax: 100 })
    const { call, reply, first, attach } = await begin(here)
    const reader = follow(first)
    const words = ['a'.repeat(60), 'b'.repeat(60), 'c']
    for (const word of words) reply.text(word)
    reply.finish()
    await reader.over
    expect(reader.text).toBe(logOf(...words, '[DONE]'))
    await vi.waitFor(() => expect(here.lost).toEqual([call.callId]))
    await expect(attach(here)).rejects.toMatchObject({ reason: 'reply_gone' })
    expect(await here.store.find(call.keyId, { kind: 'call', callId: call.callId })).toMatchObject({
      isGone: true,
    })
  })

  test('a call that nobody reads is left; a reader in another process keeps it alive', async () => {
    const here = processOf({ graceMs: 100 })
    const { reply, attach } = await begin(here)
    const elsewhere = follow(await attach(processOf()))
    reply.text('a')
    await vi.waitFor(() => expect(elsewhere.text).toBe(logOf('a')), 5_000)
    const unread = await begin(here)
    await vi.waitFor(() => expect(unread.reply.asked).toEqual(['leave']), 5_000)
    expect(reply.asked).toEqual([])
    reply.finish()
    await elsewhere.over
    // Those who come back learn that it was stopped, and why.
    const late = follow(await unread.attach(here))
    await expect(late.over).rejects.toMatchObject({
      reason: 'stopped',
      detail: expect.stringMatching(/nobody read/),
    })
  })

  test.each([
    [{ outcome: 'upstream_error', leftNoTurn: true } as const, 0],
    [{ outcome: 'upstream_error', leftNoTurn: false } as const, 1],
  ])('after %j so many keys are in use: %i', async (ending, keys) => {
    const here = processOf()
    const { call, reply, first, attach } = await begin(here)
    const reader = follow(first)
    reply.fail(new Problem('agent_rate_limited'), ending)
    await expect(reader.over).rejects.toMatchObject({ reason: 'agent_rate_limited' })
    const rows = await database.sql.query('SELECT FROM idempotency_keys WHERE call_id = $1', [call.callId])
    expect(rows).toHaveLength(keys)
    // Those who had waited for the call get its failure all the same.
    await expect(follow(await attach(processOf())).over).rejects.toMatchObject({
      reason: 'agent_rate_limited',
    })
  })

  test('a failure after the first event is the last event, for everybody', async () => {
    const here = processOf()
    const { reply, first, attach } = await begin(here)
    const reader = follow(first)
    reply.text('a')
    await vi.waitFor(() => expect(reader.text).toBe(logOf('a')))
    reply.fail(new Problem('agent_error'))
    expect((await reader.over).kind).toBe('ended')
    expect(reader.text).toBe(logOf('a', 'agent_error'))
    const again = follow(await attach(processOf()))
    await again.over
    expect(again.text).toBe(reader.text)
    await expect((await attach(here)).whole(new AbortController().signal)).rejects.toMatchObject({
      reason: 'agent_error',
    })
  })

  test('a process that drains ends the readers of calls of others, and not those of its own', async () => {
    const here = processOf()
    const elsewhere = processOf()
    const { reply, first, attach } = await begin(here)
    const own = follow(first)
    const other = follow(await attach(elsewhere))
    reply.text('a')
    await vi.waitFor(() => expect(other.text).toBe(logOf('a')), 5_000)
    here.replies.tasks.drain()
    elsewhere.replies.tasks.drain()
    expect(await other.over).toEqual({ kind: 'left' })
    expect(own.end).toBeUndefined()
    reply.finish()
    expect((await own.over).kind).toBe('ended')
    // What is stored is still served.
    const late = follow(await attach(elsewhere))
    expect((await late.over).kind).toBe('ended')
    expect(late.text).toBe(own.text)
  })

  test('a stop that comes while the process looks for stops is not overlooked', async () => {
    const working = processOf().store
    const looks: PromiseWithResolvers<void>[] = []
    const here = processOf({
      store: {
        async stopped(callIds) {
          const found = await working.stopped(callIds)
          const look = Promise.withResolvers<void>()
          looks.push(look)
          // The first look has seen nothing, and its answer is late.
          if (looks.length === 1) await look.promise
          return found
        },
      },
    })
    const { call, reply } = await begin(here)
    await vi.waitFor(() => expect(looks).toHaveLength(1), 5_000)
    await requestStop(call)
    here.wakeUps.send('stop', [call.callId])
    looks[0]?.resolve()
    await vi.waitFor(() => expect(reply.asked).toEqual(['stop']), 500)
  })

  test('a process that closes waits for the ends of its calls', async () => {
    const here = processOf()
    const { call, reply } = await begin(here)
    reply.text('a')
    const closing = here.replies.tasks.close(5_000)
    await new Promise(setImmediate)
    reply.fail(new Problem('draining'), { outcome: 'drained', leftNoTurn: false })
    await closing
    const [found] = await here.store.read([{ callId: call.callId, after: 0 }])
    expect(found?.call.end).toMatchObject({ outcome: 'drained', events: 2 })
  })

  test('a stop in another process stops the run', async () => {
    const here = processOf()
    const { call, reply, first } = await begin(here)
    const reader = follow(first)
    reply.text('a')
    const elsewhere = processOf().replies
    await requestStop(call)
    elsewhere.stopSoon(call.callId)
    await reader.over
    expect(reply.asked).toEqual(['stop'])
    expect(reader.text).toBe(logOf('a', 'stopped'))
  })
})
