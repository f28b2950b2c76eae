import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SecretKeys } from '#core/accounts/auth/stored-secrets.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { liveReaper } from '#core/ledger/ledger.test-support.ts'
import { createReplyStore, type ReplyStore } from './reply-store.ts'
import type { KeptBounds } from './reply-upkeep.ts'
import type { EndOfReply, StoredPart } from './reply-writer.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const BOUNDS: KeptBounds = { retentionHours: 24, bytesPerOwnerMax: 2 ** 30, bytesTotalMax: 2 ** 40 }
const SECRET_KEY = 'k'.repeat(32)

describe(kind, () => {
  let database: Database
  let sql: Sql
  let store: ReplyStore

  beforeAll(async () => {
    database = await openScratchDatabase(serverUrl)
    sql = database.sql
    store = storeOf()
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    await sql.query('TRUNCATE kept_calls, reply_parts, idempotency_keys, instances, calls')
  })

  const storeOf = (more: { secretKeys?: SecretKeys; bounds?: Partial<KeptBounds>; sql?: Sql } = {}) =>
    createReplyStore({
      database: { kind, sql: more.sql ?? sql },
      randomBytes,
      secretKeys: {},
      ...more,
      bounds: { ...BOUNDS, ...more.bounds },
    })

  interface Call {
    readonly callId: string
    readonly keyId: string
    readonly ownerId: string
    readonly hash: string
    readonly instance: string
  }

  /** What the admission writes. */
  async function admitted(more: Partial<Call> = {}): Promise<Call> {
    const hash = randomBytes(32).toString('hex')
    const call = { callId: v7(), keyId: v7(), ownerId: v7(), hash, instance: v7(), ...more }
    const bytes = Buffer.from(call.hash, 'hex')
    await sql.query(
      `INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance)
       VALUES ($1, $2, $3, $4, 'rest', 'chat-1', true, $5)`,
      [call.callId, call.keyId, call.ownerId, bytes, call.instance],
    )
    await sql.query(
      `INSERT INTO idempotency_keys (key_id, hash, fingerprint, call_id) VALUES ($1, $2, '', $3)
       ON CONFLICT (key_id, hash) DO UPDATE SET call_id = excluded.call_id`,
      [call.keyId, bytes, call.callId],
    )
    return call
  }

  /** Events from the number `first` on. */
  const partOf = ({ callId }: Call, first: number, count: number): StoredPart => {
    const numbers = Array.from({ length: count }, (_, index) => first + index)
    const text = numbers.map((n) => `data: event ${n} 😀\nid: ${n}\n\n`).join('')
    return { callId, first, count, text }
  }

  const endOf = ({ callId }: Call, events: number, more: Partial<EndOfReply> = {}): EndOfReply => ({
    callId,
    outcome: 'done',
    events,
    status: 200,
    isLost: false,
    freesKey: false,
    ...more,
  })

  const readOne = async ({ callId }: Call, after = 0, from = store) =>
    (await from.read([{ callId, after }]))[0]
  const firstsOf = async (call: Call, after = 0) =>
    (await readOne(call, after))?.parts.map(({ first }) => first)
  const rowsOf = async (table: string) =>
    (await sql.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n
  const age = ({ callId }: Call, hours: number) =>
    sql.query("UPDATE kept_calls SET ended_at = ended_at - $2 * interval '1 hour' WHERE call_id = $1", [
      callId,
      hours,
    ])

  describe('the log', () => {
    test('events are read as they were appended, from any of them on, with the state of the call', async () => {
      const call = await admitted()
      const parts = [partOf(call, 1, 3), partOf(call, 4, 1), partOf(call, 5, 40)]
      expect(await store.append(parts)).toEqual([])
      const { callId, keyId, ownerId } = call
      expect(await readOne(call)).toEqual({
        parts,
        call: {
          callId,
          keyId,
          ownerId,
          face: 'rest',
          conversation: 'chat-1',
          stream: true,
          isStopRequested: false,
          isGone: false,
        },
      })
      expect(await firstsOf(call, 2)).toEqual([1, 4, 5])
      expect(await firstsOf(call, 3)).toEqual([4, 5])
      expect(await firstsOf(call, 43)).toEqual([5])
      for (const after of [44, 1_000, 2 ** 31 - 1, 2 ** 40]) expect(await firstsOf(call, after)).toEqual([])
    })

    test('results are in the order of the requests, and undefined without a call', async () => {
      const [one, other] = [await admitted(), await admitted()]
      await store.append([partOf(other, 1, 2), partOf(one, 1, 1)])
      const results = await store.read([
        { callId: one.callId, after: 0 },
        { callId: v7(), after: 0 },
        { callId: other.callId, after: 1 },
        { callId: one.callId, after: 1 },
      ])
      expect(results.map((result) => result?.parts)).toEqual([
        [partOf(one, 1, 1)],
        undefined,
        [partOf(other, 1, 2)],
        [],
      ])
    })

    test('a thousand readers read at once', async () => {
      const call = await admitted()
      await store.append([partOf(call, 1, 1), partOf(call, 2, 1)])
      const requests = Array.from({ length: 1_001 }, (_, n) => ({ callId: call.callId, after: n % 3 }))
      const read = (await store.read(requests)).map((result) => result?.parts.length)
      expect(read).toEqual(requests.map(({ after }) => 2 - after))
    })

    test('nothing behind a gap is read until it is filled', async () => {
      const call = await admitted()
      await store.append([partOf(call, 3, 2)])
      expect(await firstsOf(call)).toEqual([])
      await store.append([partOf(call, 7, 1)])
      await store.append([partOf(call, 1, 2)])
      expect(await firstsOf(call)).toEqual([1, 3])
      expect(await firstsOf(call, 4)).toEqual([])
      await store.append([partOf(call, 5, 2)])
      expect(await firstsOf(call, 2)).toEqual([3, 5, 7])
    })

    test('a repeated part changes nothing', async () => {
      const call = await admitted()
      const parts = [partOf(call, 1, 2), partOf(call, 3, 1)]
      await store.append(parts)
      await store.append(parts)
      await store.append([...parts, partOf(call, 4, 1)])
      expect((await readOne(call))?.parts).toEqual([...parts, partOf(call, 4, 1)])
    })

    test('a read is bounded, and the next one goes on where it ended', async () => {
      const call = await admitted()
      const text = randomBytes(40_000).toString('base64')
      const parts = Array.from({ length: 12 }, (_, n) => ({ ...call, first: n + 1, count: 1, text }))
      await store.append(parts)
      const firsts: number[] = []
      for (let after = 0; after < 12; after = firsts.at(-1) ?? 12) {
        const read = (await firstsOf(call, after)) ?? []
        expect(read.length * text.length).toBeLessThanOrEqual(256 * 1024 + text.length)
        firsts.push(...read)
      }
      expect(firsts).toEqual(parts.map(({ first }) => first))
    })

    test('many parts are appended in several statements', async () => {
      const calls = await Promise.all(Array.from({ length: 3 }, () => admitted()))
      const text = 'x'.repeat(6 * 1024 * 1024)
      await store.append(calls.map(({ callId }) => ({ callId, first: 1, count: 1, text })))
      for (const call of calls) expect((await readOne(call))?.parts[0]?.text).toBe(text)
    })

    test('parts of a call that has ended are left out and reported, those of others are written', async () => {
      const [ended, running] = [await admitted(), await admitted()]
      await store.end(endOf(ended, 1), [partOf(ended, 1, 1)])
      const unknown = { ...ended, callId: v7() }
      const parts = [partOf(ended, 2, 1), partOf(running, 1, 1), partOf(unknown, 1, 1)]
      expect((await store.append(parts)).toSorted()).toEqual([ended.callId, unknown.callId].toSorted())
      expect(await firstsOf(ended)).toEqual([1])
      expect(await firstsOf(running)).toEqual([1])
      expect(await rowsOf('reply_parts')).toBe(2)
    })
  })

  describe('the end', () => {
    test('is stored with the last parts and the reply', async () => {
      const call = await admitted()
      await store.append([partOf(call, 1, 2)])
      expect(await store.reply(call.callId)).toBeUndefined()
      const problem = {
        reason: 'agent_timeout',
        detail: 'quote " \\ NUL \0 lone \ud800',
        retryAfterSeconds: 3,
      } as const
      const reply = JSON.stringify({ text: '😀'.repeat(100_000) })
      const end = endOf(call, 3, { outcome: 'timeout', problem, reply })
      expect(await store.end(end, [partOf(call, 3, 1)])).toBe(true)
      expect(await readOne(call)).toMatchObject({
        parts: [partOf(call, 1, 2), partOf(call, 3, 1)],
        call: { isGone: false, end: { outcome: 'timeout', events: 3, status: 200, problem } },
      })
      expect(await store.reply(call.callId)).toBe(reply)
      expect(await sql.query('SELECT bytes FROM kept_calls')).toEqual(
        await sql.query(`SELECT (SELECT sum(octet_length(bytes)) FROM reply_parts)::int4
          + (SELECT octet_length(reply) FROM kept_calls) AS bytes`),
      )
    })

    test('whoever writes it first decides, however many are written at once', async () => {
      const stores = [store, store, storeOf(), storeOf()]
      const outcomes = ['done', 'client_gone', 'timeout', 'drained'] as const
      for (let round = 0; round < 5; round += 1) {
        const call = await admitted()
        const results = await Promise.all(
          stores.map((each, n) =>
            each.end(endOf(call, 1, { outcome: outcomes[n] ?? 'done' }), [partOf(call, 1, 1)]),
          ),
        )
        expect(results.filter(Boolean)).toHaveLength(1)
        expect((await readOne(call))?.call.end?.outcome).toBe(outcomes[results.indexOf(true)])
      }
    })

    test('may be repeated after a lost answer, and another end may not follow', async () => {
      const call = await admitted()
      let isLost = true
      const lossy: Sql = {
        async query<Row>(...statement: Parameters<Sql['query']>) {
          const rows = await sql.query<Row>(...statement)
          if (!isLost) return rows
          isLost = false
          throw Object.assign(new Error('the socket broke'), { code: 'ECONNRESET' })
        },
      }
      const end = endOf(call, 1, { problem: { reason: 'stopped' } })
      const { end: write } = storeOf({ sql: lossy })
      await expect(write(end, [partOf(call, 1, 1)])).rejects.toThrow('broke')
      expect(await write(end, [partOf(call, 1, 1)])).toBe(true)
      expect(await write({ ...end, problem: undefined }, [partOf(call, 1, 1)])).toBe(false)
      expect((await readOne(call))?.parts).toEqual([partOf(call, 1, 1)])
    })

    test('many ends at once all count', async () => {
      const calls = await Promise.all(Array.from({ length: 100 }, () => admitted()))
      const results = await Promise.all(calls.map((call) => store.end(endOf(call, 1), [partOf(call, 1, 1)])))
      expect(results).toEqual(calls.map(() => true))
    })

    test('a last part that is stored already counts once', async () => {
      const call = await admitted()
      await store.append([partOf(call, 1, 2)])
      expect(await store.end(endOf(call, 2), [partOf(call, 1, 2)])).toBe(true)
      expect((await readOne(call))?.parts).toEqual([partOf(call, 1, 2)])
    })

    test('frees the key if it is asked to, and only that of the call', async () => {
      const keyId = v7()
      const [freed, taken, other] = [
        await admitted({ keyId }),
        await admitted({ keyId }),
        await admitted({ keyId }),
      ]
      const later = await admitted({ keyId, hash: taken.hash })
      const byHash = ({ hash }: Call) => store.find(keyId, { kind: 'key', hash })
      await Promise.all([
        store.end(
          endOf(freed, 0, { freesKey: true, status: 503, problem: { reason: 'agent_unavailable' } }),
          [],
        ),
        store.end(endOf(taken, 0, { freesKey: true }), []),
        store.end(endOf(other, 0), []),
      ])
      expect(await byHash(freed)).toBeUndefined()
      expect((await byHash(taken))?.callId).toBe(later.callId)
      expect((await byHash(other))?.callId).toBe(other.callId)
      expect(await store.find(keyId, { kind: 'call', callId: freed.callId })).toMatchObject({
        end: { status: 503, problem: { reason: 'agent_unavailable' } },
      })
    })

    test('of a lost log leaves nothing to read, and the key in use', async () => {
      const call = await admitted()
      await store.append([partOf(call, 1, 2)])
      expect(await store.end(endOf(call, 9, { isLost: true, reply: '{}' }), [partOf(call, 3, 1)])).toBe(true)
      expect(await readOne(call)).toMatchObject({ parts: [], call: { isGone: true, end: { events: 9 } } })
      expect(await store.reply(call.callId)).toBeUndefined()
      expect(await rowsOf('reply_parts')).toBe(0)
      expect(await store.find(call.keyId, { kind: 'key', hash: call.hash })).toMatchObject({ isGone: true })
    })

    test.each([
      ['an event before the last part', 5],
      ['the last event', 7],
    ])(
      'of a log that lacks %s makes it gone, so that no reader waits for the rest',
      async (_what, events) => {
        const call = await admitted()
        await store.append([partOf(call, 1, 2), partOf(call, 4, 1)])
        expect(await store.end(endOf(call, events, { reply: '{}' }), [partOf(call, 5, 1)])).toBe(true)
        expect(await readOne(call)).toMatchObject({ parts: [], call: { isGone: true } })
        expect(await store.reply(call.callId)).toBeUndefined()
        expect(await rowsOf('reply_parts')).toBe(0)
      },
    )
  })

  describe.runIf(serverUrl)('an end beside another transaction', () => {
    /** Starts the end while the transaction has done its work, and commits the transaction once the end waits for it. */
    async function endBeside(
      statement: string,
      end: EndOfReply,
      parts: readonly StoredPart[],
    ): Promise<boolean> {
      const [{ name } = { name: '' }] = await sql.query<{ name: string }>('SELECT current_database() AS name')
      const client = new pg.Client({
        connectionString: Object.assign(new URL(serverUrl ?? ''), { pathname: name }).href,
      })
      await client.connect()
      onTestFinished(() => client.end())
      await client.query('BEGIN')
      await client.query(statement)
      const ending = store.end(end, parts)
      const waiting =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      await vi.waitUntil(async () => (await sql.query(waiting)).length > 0)
      await client.query('COMMIT')
      return ending
    }

    test('that ends the call is too late, and writes nothing', async () => {
      const call = await admitted()
      const other = "UPDATE kept_calls SET ended_at = now(), outcome = 'interrupted', events = 0"
      expect(await endBeside(other, endOf(call, 1, { reply: '{}' }), [partOf(call, 1, 1)])).toBe(false)
      expect(await readOne(call)).toMatchObject({
        parts: [],
        call: { end: { outcome: 'interrupted', events: 0 } },
      })
      expect(await rowsOf('reply_parts')).toBe(0)
    })

    test('that writes the same end, whose answer was lost, counts', async () => {
      const call = await admitted()
      const same = "UPDATE kept_calls SET ended_at = now(), outcome = 'done', events = 0, status = 200"
      expect(await endBeside(same, endOf(call, 0), [])).toBe(true)
    })

    test('that attaches another request to the key frees the key all the same', async () => {
      const call = await admitted()
      const attached = 'UPDATE idempotency_keys SET fingerprint = fingerprint'
      expect(await endBeside(attached, endOf(call, 0, { freesKey: true }), [])).toBe(true)
      expect(await rowsOf('idempotency_keys')).toBe(0)
    })

    test('that stores the same part has it once', async () => {
      const call = await admitted()
      const part = partOf(call, 1, 1)
      const appended = `INSERT INTO reply_parts VALUES ('${call.callId}', 1, 1, '\\x')`
      expect(await endBeside(appended, endOf(call, 1), [part])).toBe(true)
      expect((await readOne(call))?.parts).toEqual([part])
    })
  })

  test('a log that is lost while its call runs is deleted, and stays lost', async () => {
    const call = await admitted()
    await store.append([partOf(call, 1, 2)])
    await store.lose(call.callId)
    expect(await store.append([partOf(call, 3, 1)])).toEqual([])
    expect(await readOne(call)).toMatchObject({ parts: [], call: { isGone: true } })
    expect(await store.end(endOf(call, 4, { reply: '{}' }), [partOf(call, 4, 1)])).toBe(true)
    expect(await store.reply(call.callId)).toBeUndefined()
    expect(await rowsOf('reply_parts')).toBe(0)
  })

  test('only the API key of a call finds it, by its id or its Idempotency-Key', async () => {
    const call = await admitted()
    const byId = { kind: 'call', callId: call.callId } as const
    const byHash = { kind: 'key', hash: call.hash } as const
    for (const ref of [byId, byHash]) {
      expect(await store.find(call.keyId, ref)).toMatchObject({ callId: call.callId, ownerId: call.ownerId })
      expect(await store.find(v7(), ref)).toBeUndefined()
    }
    expect(await store.find(call.keyId, { kind: 'call', callId: 'no id' })).toBeUndefined()
    expect(await store.find(call.keyId, { kind: 'key', hash: '00' })).toBeUndefined()
  })

  test('a reason of a later version is read as an internal error', async () => {
    const call = await admitted()
    await store.end(endOf(call, 0, { status: 500, problem: { reason: 'stopped' } }), [])
    await sql.query(`UPDATE kept_calls SET problem = '{"reason": "not_yet_known"}'`)
    expect((await readOne(call))?.call.end?.problem).toEqual({ reason: 'internal_error' })
  })

  describe('signs between processes', () => {
    test('running calls learn that they are to stop, or were ended by another process', async () => {
      const [asked, ended, running] = [await admitted(), await admitted(), await admitted()]
      await sql.query('UPDATE kept_calls SET stop_requested_at = now() WHERE call_id = $1', [asked.callId])
      await store.end(endOf(ended, 0), [])
      const stopped = await store.stopped([asked, ended, running].map(({ callId }) => callId))
      expect(new Set(stopped)).toEqual(
        new Set([
          { callId: asked.callId, isEnded: false },
          { callId: ended.callId, isEnded: true },
        ]),
      )
      expect(await readOne(asked)).toMatchObject({ call: { isStopRequested: true } })
      expect(await readOne(ended)).toMatchObject({ call: { isStopRequested: false } })
    })

    test('readers are known for as long as they hold a call, and a shorter hold does not end a longer one', async () => {
      const [held, over, none] = [await admitted(), await admitted(), await admitted()]
      await store.holdReading([held.callId], 600_000)
      await store.holdReading([held.callId, over.callId], -1_000)
      const ids = [held, over, none].map(({ callId }) => callId)
      expect(await store.haveReaders(ids)).toEqual([held.callId])
    })

    test('a deleted reply is gone and its key stays in use; a running call is left alone', async () => {
      const [ended, running] = [await admitted(), await admitted()]
      await store.end(endOf(ended, 1, { reply: '{}' }), [partOf(ended, 1, 1)])
      await store.append([partOf(running, 1, 1)])
      for (const { callId } of [ended, running]) await store.remove(callId)
      expect(await store.find(ended.keyId, { kind: 'key', hash: ended.hash })).toMatchObject({ isGone: true })
      expect(await store.reply(ended.callId)).toBeUndefined()
      expect(await firstsOf(running)).toEqual([1])
      expect(await rowsOf('reply_parts')).toBe(1)
    })

    test('replays are added to those of the ledger', async () => {
      const ids = [v7(), v7()] as const
      for (const id of ids) {
        await sql.query(
          `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, admitted_at)
           VALUES ($1, '', $1, $1, 'chat', 'rest', 'dify', $1, now())`,
          [id],
        )
      }
      await Promise.all([
        store.countReplays(
          new Map([
            [ids[0], 2],
            [ids[1], 1],
            [v7(), 1],
          ]),
        ),
        store.countReplays(
          new Map([
            [ids[1], 3],
            [ids[0], 1],
          ]),
        ),
      ])
      await store.countReplays(new Map())
      expect(await sql.query('SELECT replays FROM calls ORDER BY id')).toEqual([
        { replays: 3 },
        { replays: 4 },
      ])
    })
  })

  describe('calls of dead processes', () => {
    async function instanceWith(leaseMs: number): Promise<string> {
      const id = v7()
      await sql.query(
        `INSERT INTO instances (id, started_at, lease_until) VALUES ($1, now(), now() + $2 * interval '1 ms')`,
        [id, leaseMs],
      )
      return id
    }

    test('end as interrupted, with the events before the first gap', async () => {
      const instance = await instanceWith(-1)
      const [whole, holed, headless, empty] = await Promise.all(
        Array.from({ length: 4 }, () => admitted({ instance })),
      )
      if (!(whole && holed && headless && empty)) throw new Error('four calls')
      const ended = await admitted({ instance })
      await store.end(endOf(ended, 0), [])
      const living = await admitted({ instance: await instanceWith(600_000) })
      await store.append([
        ...[partOf(whole, 1, 2), partOf(whole, 3, 4)],
        ...[partOf(holed, 1, 2), partOf(holed, 3, 1), partOf(holed, 5, 1), partOf(holed, 6, 1)],
        partOf(headless, 2, 1),
      ])
      const reaper = await liveReaper(sql)
      expect(await store.endDead(reaper)).toBe(4)
      expect(await store.endDead(reaper)).toBe(0)
      const results = await store.read(
        [whole, holed, headless, empty].map(({ callId }) => ({ callId, after: 0 })),
      )
      expect(results.map((result) => [result?.parts.map(({ first }) => first), result?.call.end])).toEqual(
        (
          [
            [6, [1, 3]],
            [3, [1, 3]],
            [0, []],
            [0, []],
          ] as const
        ).map(([events, firsts]) => [
          firsts,
          { outcome: 'interrupted', events, problem: { reason: 'interrupted' } },
        ]),
      )
      expect(await firstsOf(holed, 3)).toEqual([])
      expect((await readOne(living))?.call.end).toBeUndefined()
      expect((await readOne(ended))?.call.end?.outcome).toBe('done')
    })

    test('a process that was taken for dead cannot end its call any more', async () => {
      const call = await admitted()
      await store.append([partOf(call, 1, 1)])
      expect(await store.endDead(await liveReaper(sql))).toBe(1)
      expect(await store.append([partOf(call, 2, 1)])).toEqual([call.callId])
      expect(await store.end(endOf(call, 2), [partOf(call, 2, 1)])).toBe(false)
      // Appended at the same moment as the call was ended.
      await sql.query('INSERT INTO reply_parts SELECT call_id, 2, 1, bytes FROM reply_parts')
      expect(await firstsOf(call)).toEqual([1])
      expect(await firstsOf(call, 1)).toEqual([])
      expect(await store.find(call.keyId, { kind: 'key', hash: call.hash })).toMatchObject({
        end: { outcome: 'interrupted', events: 1 },
      })
    })

    test('the only process of a database ends those of all before it', async () => {
      const [own, earlier] = [await admitted(), await admitted({ instance: await instanceWith(600_000) })]
      expect(await store.endPredecessors(own.instance)).toBe(1)
      expect((await readOne(own))?.call.end).toBeUndefined()
      expect((await readOne(earlier))?.call.end?.outcome).toBe('interrupted')
    })
  })

  test('the sweep leaves nothing of calls past their retention, and all of others', async () => {
    const keyId = v7()
    const [old, young, running] = [await admitted({ keyId }), await admitted({ keyId }), await admitted()]
    const later = await admitted({ keyId, hash: old.hash })
    for (const call of [old, young]) await store.end(endOf(call, 1, { reply: '{}' }), [partOf(call, 1, 1)])
    await store.append([partOf(running, 1, 1)])
    await age(old, 25)
    await age(young, 23)
    expect(await store.sweep()).toBe(1)
    expect(await store.sweep()).toBe(0)
    expect(await readOne(old)).toBeUndefined()
    expect(await firstsOf(young)).toEqual([1])
    expect(await firstsOf(running)).toEqual([1])
    // The key of the swept call stands for a later call.
    expect((await store.find(keyId, { kind: 'key', hash: old.hash }))?.callId).toBe(later.callId)
    await age(young, 2)
    await store.end(endOf(later, 0), [])
    await age(later, 25)
    await store.end(endOf(running, 1), [])
    await age(running, 25)
    expect(await store.sweep()).toBe(3)
    expect(await Promise.all(['kept_calls', 'reply_parts', 'idempotency_keys'].map(rowsOf))).toEqual([
      0, 0, 0,
    ])
  })

  describe('room', () => {
    /** Some 30 kB that cannot be compressed. */
    const big = (call: Call, first = 1): StoredPart => ({
      callId: call.callId,
      first,
      count: 1,
      text: randomBytes(30_000)
        .toString('latin1')
        .replace(/[\x80-\xff]/g, '?'),
    })

    async function endedOf(ownerId: string, hoursAgo: number): Promise<Call> {
      const call = await admitted({ ownerId })
      await store.end(endOf(call, 1, { reply: '{}' }), [big(call)])
      await age(call, hoursAgo)
      return call
    }

    const areGone = async (calls: readonly Call[]) =>
      (await store.read(calls.map(({ callId }) => ({ callId, after: 0 })))).map(
        (result) => result?.call.isGone,
      )

    async function bytesOf(call: Call): Promise<number> {
      const [row] = await sql.query<{ bytes: number }>('SELECT bytes FROM kept_calls WHERE call_id = $1', [
        call.callId,
      ])
      return row?.bytes ?? 0
    }

    test('an owner above the bound loses the oldest replies, and no other owner does', async () => {
      const [owner, other] = [v7(), v7()]
      const calls = [await endedOf(owner, 1), await endedOf(owner, 3), await endedOf(owner, 2)]
      const neighbour = await endedOf(other, 9)
      const one = await bytesOf(neighbour)
      const bounded = storeOf({ bounds: { bytesPerOwnerMax: Math.round(2.5 * one) } })
      expect(await bounded.makeRoom()).toEqual({ isFull: false, fullOwners: [] })
      expect(await areGone([...calls, neighbour])).toEqual([false, true, false, false])
      expect(await store.reply(calls[1]?.callId ?? '')).toBeUndefined()
      expect(await rowsOf('reply_parts')).toBe(3)
      expect(await rowsOf('idempotency_keys')).toBe(4)
      expect(await bounded.makeRoom()).toEqual({ isFull: false, fullOwners: [] })
      expect(await rowsOf('reply_parts')).toBe(3)
    })

    test('above the bound of all the oldest replies go, whoever owns them', async () => {
      const calls = [await endedOf(v7(), 1), await endedOf(v7(), 3), await endedOf(v7(), 2)]
      const total = Math.round(1.5 * (await bytesOf(calls[0] as Call)))
      expect(await storeOf({ bounds: { bytesTotalMax: total } }).makeRoom()).toEqual({
        isFull: false,
        fullOwners: [],
      })
      expect(await areGone(calls)).toEqual([false, true, true])
    })

    test('below the bounds nothing goes', async () => {
      const calls = [await endedOf(v7(), 1), await endedOf(v7(), 2)]
      expect(await store.makeRoom()).toEqual({ isFull: false, fullOwners: [] })
      expect(await areGone(calls)).toEqual([false, false])
    })

    test('where running calls leave no room, the owner or all are full', async () => {
      const ownerId = v7()
      const [ended, running] = [await endedOf(ownerId, 1), await admitted({ ownerId })]
      await store.append([big(running), big(running, 2)])
      const most = Math.round(1.5 * (await bytesOf(ended)))
      const perOwner = storeOf({ bounds: { bytesPerOwnerMax: most } })
      expect(await perOwner.makeRoom()).toEqual({ isFull: false, fullOwners: [ownerId] })
      expect(await areGone([ended, running])).toEqual([true, false])
      const total = storeOf({ bounds: { bytesTotalMax: most } })
      expect(await total.makeRoom()).toEqual({ isFull: true, fullOwners: [] })
      await store.end(endOf(running, 2), [])
      expect(await total.makeRoom()).toEqual({ isFull: false, fullOwners: [] })
    })
  })

  describe('encryption', () => {
    const encrypting = () => storeOf({ secretKeys: { secretKey: SECRET_KEY } })

    async function encrypted(): Promise<Call> {
      const call = await admitted()
      await encrypting().append([partOf(call, 1, 1), partOf(call, 2, 60)])
      await encrypting().end(endOf(call, 62, { reply: '{"text": "event"}' }), [partOf(call, 62, 1)])
      return call
    }

    test('no stored byte shows the texts, and the store reads them', async () => {
      const call = await encrypted()
      const rows = await sql.query<{ bytes: Buffer }>(
        'SELECT bytes FROM reply_parts UNION ALL SELECT reply FROM kept_calls',
      )
      expect(rows).toHaveLength(4)
      for (const { bytes } of rows) expect(bytes.toString('latin1')).not.toContain('event')
      expect((await readOne(call, 0, encrypting()))?.parts).toEqual([
        partOf(call, 1, 1),
        partOf(call, 2, 60),
        partOf(call, 62, 1),
      ])
      expect(await encrypting().reply(call.callId)).toBe('{"text": "event"}')
    })

    test('the previous key reads, and with neither the reply is gone', async () => {
      const call = await encrypted()
      const next = 'n'.repeat(32)
      const rotated = storeOf({ secretKeys: { secretKey: next, secretKeyPrevious: SECRET_KEY } })
      expect((await readOne(call, 0, rotated))?.parts).toHaveLength(3)
      expect(await rotated.reply(call.callId)).toBe('{"text": "event"}')
      for (const secretKeys of [{}, { secretKey: next }]) {
        const unable = storeOf({ secretKeys })
        expect(await readOne(call, 0, unable)).toMatchObject({ parts: [], call: { isGone: true } })
        expect(await unable.reply(call.callId)).toBeUndefined()
      }
    })
  })
})
