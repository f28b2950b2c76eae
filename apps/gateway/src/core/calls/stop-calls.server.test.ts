import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import type { KeptCall, KeptCallRef } from '#core/reply-log/kept-call.ts'
import { type Permission, type Principal, requireKey } from '#core/requests/principal.ts'
import { Prisma } from '#generated/prisma/client.ts'
import { type CallStops, createCallStops } from './stop-calls.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const CALL_NOT_FOUND = expect.objectContaining({ reason: 'call_not_found' })

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let services: UserServices
  let sql: Sql
  let admin: Principal
  let owner: Principal
  let chatKey: Principal
  let otherChatKey: Principal
  let uploadKey: Principal
  let stranger: Principal
  let strangersKey: Principal
  let adminsChatKey: Principal
  let adminsKey: Principal
  let limitedKey: Principal
  let limitedAdminKey: Principal

  const stopSoon = vi.fn<(callId: string) => void>()
  /** What is called in place of a statement; undefined for the statement itself. */
  let before: (() => Promise<unknown>) | undefined
  let isDiskFull = false
  let stops: CallStops

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
    sql = services.database.sql
    const keyOf = async (of: Principal, ...permissions: Permission[]) =>
      (await services.keyOf(of, { permissions })).caller
    admin = await services.join('admin')
    owner = await services.join('premium')
    stranger = await services.join('premium')
    chatKey = await keyOf(owner, 'chat')
    otherChatKey = await keyOf(owner, 'chat')
    uploadKey = await keyOf(owner, 'upload')
    strangersKey = await keyOf(stranger, 'chat')
    adminsChatKey = await keyOf(admin, 'chat')
    adminsKey = await keyOf(admin, 'admin')
    const allowedAgents = ['dify', 'fastgpt/support']
    limitedKey = (await services.keyOf(owner, { allowedAgents })).caller
    limitedAdminKey = (await services.keyOf(admin, { allowedAgents, permissions: ['admin'] })).caller
    stops = createCallStops({
      sql: {
        async query(text, values) {
          await before?.()
          return sql.query(text, values)
        },
      },
      kept: { find: findKept, stopSoon },
      space: {
        get isLow() {
          return isDiskFull
        },
      },
    })
  })
  afterAll(() => services.database.close())

  async function findKept(caller: Principal, ref: KeptCallRef): Promise<KeptCall> {
    const { keyId } = requireKey(caller)
    const hash = ref.kind === 'key' ? ref.hash : ''
    const [row] = await sql.query<{ call_id: string; owner_id: string }>(
      "SELECT call_id, owner_id FROM kept_calls WHERE key_id = $1 AND key_hash = decode($2, 'hex')",
      [keyId, hash],
    )
    if (row === undefined) throw new Problem('call_not_found')
    const parts = {
      face: 'rest',
      conversation: '',
      stream: true,
      isStopRequested: false,
      isGone: false,
    } as const
    return { callId: row.call_id, keyId, ownerId: row.owner_id, ...parts }
  }

  const keyIdOf = ({ via }: Principal) => (via.kind === 'key' ? via.keyId : '')

  /** The row of a running call. */
  async function newCall({
    of = chatKey,
    keptAs = '',
    kind = 'chat',
    agent = 'dify',
    app = '',
  } = {}): Promise<string> {
    const id = v7()
    const values = [id, keyIdOf(of), of.userId, v7()]
    await sql.query(
      `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, app, instance, admitted_at)
       VALUES ($1, '', $2, $3, $5, 'rest', $6, $7, $4, now())`,
      [...values, kind, agent, app],
    )
    if (keptAs !== '')
      await sql.query(
        `INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance)
         VALUES ($1, $2, $3, decode($5, 'hex'), 'rest', '', true, $4)`,
        [...values, keptAs],
      )
    return id
  }

  const stop = (caller: Principal, callId: string) => stops.stop(caller, { kind: 'call', callId })
  const settle = (callId: string, outcome = 'done') =>
    sql.query('UPDATE calls SET outcome = $2, ended_at = now() WHERE id = $1', [callId, outcome])

  /** Where a stop of the call is requested. */
  async function requestedIn(callId: string): Promise<string[]> {
    const rows = await sql.query<{ name: string }>(
      `SELECT 'calls' AS name FROM calls WHERE id = $1 AND stop_requested_at IS NOT NULL
       UNION ALL SELECT 'kept_calls' FROM kept_calls WHERE call_id = $1 AND stop_requested_at IS NOT NULL`,
      [callId],
    )
    return rows.map(({ name }) => name)
  }

  const eventsOf = (callId: string) => auditEventsOf(services.database.sql, { target_id: callId })

  test('an administrator, the owner, and its keys that may chat stop a call, and a key that may only upload its own', async () => {
    for (const caller of [admin, adminsKey, owner, chatKey, otherChatKey]) {
      const callId = await newCall()
      expect(await stop(caller, callId)).toEqual({ callId, outcome: null })
      expect(await requestedIn(callId)).toEqual(['calls'])
    }
    const ofUploader = await newCall({ of: uploadKey })
    expect(await stop(uploadKey, ofUploader)).toEqual({ callId: ofUploader, outcome: null })
  })

  test.each([
    ['a chat of its agent', { app: 'any' }, true],
    ['a chat of its app', { agent: 'fastgpt', app: 'support' }, true],
    ['a chat of another app', { agent: 'fastgpt', app: 'sales' }, false],
    ['a chat of another agent', { agent: 'coze' }, false],
    ['an upload for its agent', { kind: 'upload' }, true],
    ['an upload for the agent of its app', { kind: 'upload', agent: 'fastgpt' }, true],
    ['an upload for another agent', { kind: 'upload', agent: 'coze' }, false],
    ['an upload for no agent', { kind: 'upload', agent: '' }, false],
  ])('for a key that is limited to agents there is %s: %o → %s', async (_what, call, isFound) => {
    for (const caller of [limitedKey, limitedAdminKey])
      for (const keptAs of ['', v7().slice(-12)]) {
        const callId = await newCall({ ...call, keptAs })
        const stopping = () => stop(caller, callId)
        if (isFound) expect(await stopping()).toEqual({ callId, outcome: null })
        else {
          await expect(stopping()).rejects.toEqual(CALL_NOT_FOUND)
          await expect(stopping()).rejects.toEqual(CALL_NOT_FOUND)
        }
        expect(await requestedIn(callId)).toHaveLength(isFound ? 1 : 0)
      }
  })

  test('a key that is limited to agents stops its own calls, also those of before it was limited', async () => {
    const own = await newCall({ of: limitedKey, agent: 'coze' })
    expect(await stop(limitedKey, own)).toEqual({ callId: own, outcome: null })
  })

  test('for others there is no such call, and nothing is requested or on record', async () => {
    const callId = await newCall()
    for (const caller of [stranger, strangersKey, adminsChatKey, uploadKey])
      await expect(stop(caller, callId)).rejects.toEqual(CALL_NOT_FOUND)
    for (const id of [v7(), 'no id']) await expect(stop(admin, id)).rejects.toEqual(CALL_NOT_FOUND)
    expect([await requestedIn(callId), await eventsOf(callId)]).toEqual([[], []])
  })

  test('the audit log has who stopped whose call, once', async () => {
    const callId = await newCall()
    const origin = { address: '192.0.2.1', requestId: 'request-1' }
    for (let times = 0; times < 2; times += 1)
      expect(await stop({ ...admin, origin }, callId)).toEqual({ callId, outcome: null })
    await stop(owner, callId)
    const whose = JSON.stringify({ owner_id: owner.userId, key_id: keyIdOf(chatKey) })
    const [event, ...others] = await eventsOf(callId)
    expect(others).toEqual([])
    expect(event).toMatchObject({
      operation: 'calls.stop',
      result: 'done',
      actor: 'token',
      userId: admin.userId,
      target: 'call',
      ...origin,
    })
    expect(JSON.parse(event?.after ?? '')).toEqual(JSON.parse(whose))
  })

  test('of a hundred who stop a call at once, one is on record', async () => {
    const callId = await newCall()
    const callers = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? admin : otherChatKey))
    const answers = await Promise.all(callers.map((caller) => stop(caller, callId)))
    expect(answers).toEqual(callers.map(() => ({ callId, outcome: null })))
    expect(await eventsOf(callId)).toHaveLength(1)
  })

  test('a call that has ended is left as it is, and its outcome is returned', async () => {
    const [done, kept] = [await newCall(), await newCall({ keptAs: 'aa01' })]
    await settle(done)
    await sql.query("UPDATE kept_calls SET ended_at = now(), outcome = 'timeout' WHERE call_id = $1", [kept])
    expect(await stop(admin, done)).toEqual({ callId: done, outcome: 'done' })
    // The log of a kept call may have its end before the ledger has.
    expect(await stop(admin, kept)).toEqual({ callId: kept, outcome: 'timeout' })
    for (const callId of [done, kept])
      expect([await requestedIn(callId), await eventsOf(callId)]).toEqual([[], []])
    expect(stopSoon).not.toHaveBeenCalled()
  })

  test('a kept call is stopped by way of its log, also by others, who are on record, and by the key that made it, who is not', async () => {
    const byOwner = await newCall({ keptAs: 'aa02' })
    const byOtherKey = await newCall({ keptAs: 'aa03' })
    const byItsKey = await newCall({ keptAs: 'aa04' })
    expect(await stop(owner, byOwner)).toEqual({ callId: byOwner, outcome: null })
    expect(await stop(otherChatKey, byOtherKey)).toEqual({ callId: byOtherKey, outcome: null })
    expect(await stops.stop(chatKey, { kind: 'key', hash: 'aa04' })).toEqual({
      callId: byItsKey,
      outcome: null,
    })
    const all = [byOwner, byOtherKey, byItsKey]
    for (const callId of all) expect(await requestedIn(callId)).toEqual(['kept_calls'])
    expect(stopSoon.mock.calls.flat()).toEqual(all)
    const counts = all.map(async (callId) => (await eventsOf(callId)).length)
    expect(await Promise.all(counts)).toEqual([1, 1, 0])
  })

  test('only the key that made a kept call may name it by its Idempotency-Key', async () => {
    await newCall({ keptAs: 'aa05' })
    const named = { kind: 'key', hash: 'aa05' } as const
    await expect(stops.stop(otherChatKey, named)).rejects.toEqual(CALL_NOT_FOUND)
    await expect(stops.stop(owner, named)).rejects.toMatchObject({ reason: 'api_key_required' })
  })

  test('on a disk without space calls are stopped, and nothing is on record', async () => {
    const callId = await newCall()
    isDiskFull = true
    await stop(admin, callId)
    isDiskFull = false
    expect([await requestedIn(callId), await eventsOf(callId)]).toEqual([['calls'], []])
  })

  // Several transactions, which an embedded database does not have at once.
  describe.skipIf(serverUrl === undefined)('that wait for the row of their call', () => {
    /** What stops return that wait for a transaction with this statement to end. */
    async function stopsDuring(statement: Prisma.Sql, callId: string, count: number) {
      const stopping: ReturnType<typeof stop>[] = []
      await services.database.prisma.$transaction(async (transaction) => {
        await transaction.$executeRaw(statement)
        for (let n = 0; n < count; n += 1) stopping.push(stop(admin, callId))
        await vi.waitFor(async () => {
          // Within a transaction, what others wait for is read once.
          await transaction.$queryRaw`SELECT pg_stat_clear_snapshot()::text`
          const [row] = await transaction.$queryRaw<{ waiting: number }[]>`
            SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
          expect(row?.waiting).toBe(count)
        }, 4_000)
      })
      return Promise.all(stopping)
    }

    test('a call that ends meanwhile is not stopped, and its outcome is returned', async () => {
      const callId = await newCall()
      const ends = Prisma.sql`UPDATE calls SET outcome = 'done' WHERE id = ${callId}::uuid`
      expect(await stopsDuring(ends, callId, 1)).toEqual([{ callId, outcome: 'done' }])
      expect([await requestedIn(callId), await eventsOf(callId)]).toEqual([[], []])
    })

    test.each(['', 'aa06'])('of two at once one is on record (kept as "%s")', async (keptAs) => {
      const callId = await newCall({ keptAs })
      const table = Prisma.raw(keptAs === '' ? 'calls WHERE id' : 'kept_calls WHERE call_id')
      const locks = Prisma.sql`SELECT FROM ${table} = ${callId}::uuid FOR UPDATE`
      const running = { callId, outcome: null }
      expect(await stopsDuring(locks, callId, 2)).toEqual([running, running])
      expect(await eventsOf(callId)).toHaveLength(1)
    })
  })

  test('while the database does not answer nothing is stopped, and who asks learns it', async () => {
    const callId = await newCall()
    before = () => Promise.reject(new Problem('unavailable'))
    await expect(stop(admin, callId)).rejects.toMatchObject({ reason: 'unavailable' })
    before = undefined
    expect(await requestedIn(callId)).toEqual([])
  })
})
