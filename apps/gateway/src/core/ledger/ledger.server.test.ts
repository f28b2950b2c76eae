import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isLockTimeout } from '#core/base/errors/connection-error.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database, Sql } from '#core/database/database.ts'
import type { Prisma } from '#generated/prisma/client.ts'
import type { Admission, Admitted } from './admission-row.ts'
import {
  admissionOf,
  inDays,
  type KeyRow,
  type LedgerFixture,
  LOST,
  openLedgerFixture,
  randomHash,
  refusal,
  waitingForRows,
  watched,
} from './ledger.test-support.ts'
import type { Ledger } from './ledger.ts'
import type { Settlement } from './settlement/settlement-row.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const tooSlow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })

describe(kind, () => {
  let fixture: LedgerFixture
  let database: Database
  let ledger: Ledger
  let ledgerOf: LedgerFixture['ledgerOf']
  let userOf: LedgerFixture['userOf']
  let keyOf: LedgerFixture['keyOf']
  let usageOf: LedgerFixture['usageOf']

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ;({ database, ledgerOf, userOf, keyOf, usageOf } = fixture)
    ledger = ledgerOf()
  })
  afterAll(() => fixture.close())

  const rowOf = (id: string) => database.prisma.call.findUniqueOrThrow({ where: { id } })

  test('calls of one batch with both secrets share a quota, and are uses of both', async () => {
    const key = await keyOf(await userOf({ maxApiCalls: 3 }))
    const hash = randomHash()
    const data = { previousHash: Buffer.from(hash, 'hex'), previousEndsAt: inDays(1) }
    await database.prisma.apiKey.update({ where: { id: key.id }, data })
    const calls = [key, { ...key, hash }, key, { ...key, hash }].map((each) =>
      refusal(ledger.admit(admissionOf(each))),
    )
    expect(await Promise.all(calls)).toEqual(['admitted', 'admitted', 'admitted', 'quota_exceeded'])
    expect(await usageOf(key)).toEqual({ user: 3, key: 3, day: 3, month: 3, rows: 3 })
    const row = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })
    expect([row.secretUsedAt, row.previousUsedAt]).toEqual([row.lastUsedAt, row.lastUsedAt])
  })

  // A call that arrives alone uses a different statement.
  describe.each(['alone', 'with another'])('a call %s', (company) => {
    async function admit(admission: Admission): Promise<Admitted> {
      if (company === 'alone') return ledger.admit(admission)
      const other = admissionOf(await keyOf())
      const [admitted] = await Promise.all([ledger.admit(admission), ledger.admit(other)])
      return admitted
    }

    test('an admitted call is counted and written before admission resolves', async () => {
      const key = await keyOf()
      const admission = admissionOf(key, { app: 'app-1', endUser: '安娜', conversation: 'chat-1' })
      expect(await admit(admission)).toEqual({ keyId: key.id, ownerId: key.ownerId })
      expect(await usageOf(key)).toEqual({ user: 1, key: 1, day: 1, month: 1, rows: 1 })
      expect(await rowOf(admission.callId)).toMatchObject({
        requestId: 'request-1',
        keyId: key.id,
        ownerId: key.ownerId,
        kind: 'chat',
        face: 'rest',
        agent: 'dify',
        app: 'app-1',
        endUser: '安娜',
        conversation: 'chat-1',
        outcome: null,
        endedAt: null,
        admittedAt: expect.any(Date),
      })
      const { lastUsedAt } = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })
      expect(lastUsedAt).toEqual((await rowOf(admission.callId)).admittedAt)
    })

    test('both secrets of a key have one counter and one quota, and each its own last use', async () => {
      const key = await keyOf(await userOf({ maxApiCalls: 2 }))
      const previous = { ...key, hash: randomHash() }
      const data = { previousHash: Buffer.from(previous.hash, 'hex'), previousEndsAt: inDays(1) }
      const columns = { lastUsedAt: true, secretUsedAt: true, previousUsedAt: true } as const
      const { apiKey } = database.prisma
      await apiKey.update({ where: { id: key.id }, data })
      const usedAfter = async (call: Admission) => {
        expect(await admit(call)).toEqual({ keyId: key.id, ownerId: key.ownerId })
        const used = await apiKey.findUniqueOrThrow({ where: { id: key.id }, select: columns })
        return { used, at: (await rowOf(call.callId)).admittedAt }
      }
      const first = await usedAfter(admissionOf(previous))
      expect(first.used).toEqual({ lastUsedAt: first.at, secretUsedAt: null, previousUsedAt: first.at })
      const second = await usedAfter(admissionOf(key))
      const expected = { lastUsedAt: second.at, secretUsedAt: second.at, previousUsedAt: first.at }
      expect(second.used).toEqual(expected)
      for (const each of [previous, key])
        expect(await refusal(admit(admissionOf(each)))).toBe('quota_exceeded')
      expect(await usageOf(key)).toEqual({ user: 2, key: 2, day: 2, month: 2, rows: 2 })
      // By the time of the database, which is that of the statement.
      await database.sql.query('UPDATE api_keys SET previous_ends_at = $2 WHERE id = $1', [key.id, second.at])
      expect(await refusal(admit(admissionOf(previous)))).toBe('key_rotated')
      expect(await apiKey.findUniqueOrThrow({ where: { id: key.id }, select: columns })).toEqual(expected)
    })

    test('of several reasons the first is reported, and a rejected call is neither counted nor stored', async () => {
      const ownerId = await userOf({ status: 'suspended', maxApiCalls: 0 })
      const key = await keyOf(ownerId, {
        revokedAt: new Date(),
        expiresAt: inDays(-1),
        pausedAt: new Date(),
        allowedAddresses: ['192.0.2.0/24'],
        permissions: ['upload'],
        allowedAgents: ['fastgpt'],
      })
      const { apiKey, user } = database.prisma
      const updateKey = (data: Prisma.ApiKeyUpdateInput) => apiKey.update({ where: { id: key.id }, data })
      const reasons: string[] = []
      const ask = async (more: Partial<KeyRow> = {}) =>
        reasons.push(await refusal(admit(admissionOf({ ...key, ...more }))))

      await ask({ id: v7() })
      await ask()
      await updateKey({ revokedAt: null })
      await ask({ hash: randomHash() })
      await ask()
      await updateKey({ expiresAt: inDays(1) })
      await ask()
      await user.update({ where: { id: ownerId }, data: { status: 'active' } })
      await ask()
      await updateKey({ pausedAt: null })
      await ask()
      await updateKey({ allowedAddresses: [] })
      await ask()
      await updateKey({ permissions: ['chat'] })
      await ask()
      await updateKey({ allowedAgents: ['fastgpt', 'dify'] })
      await ask()
      expect(await usageOf(key)).toEqual({ user: 0, key: 0, day: 0, month: 0, rows: 0 })
      await user.update({ where: { id: ownerId }, data: { maxApiCalls: 1 } })
      await ask()
      expect(reasons).toEqual([
        'key_unknown',
        'key_revoked',
        'key_rotated',
        'key_expired',
        'owner_suspended',
        'key_paused',
        'address_denied',
        'permission_denied',
        'agent_denied',
        'quota_exceeded',
        'admitted',
      ])
    })

    test('the error for an exceeded quota names the limit, and when it begins anew', async () => {
      const key = await keyOf(await userOf({ maxApiCalls: 0 }))
      await expect(admit(admissionOf(key))).rejects.toMatchObject({
        status: 429,
        detail: 'max_api_calls of 0 is reached; an administrator can raise it.',
      })
      const ofMonth = await keyOf(await userOf({ maxApiCalls: 0, quotaPeriod: 'month' }))
      await expect(admit(admissionOf(ofMonth))).rejects.toMatchObject({
        detail: expect.stringMatching(
          /^max_api_calls of 0 a month is reached; the next month begins at \d{4}-\d\d-01T00:00:00\.000Z\.$/,
        ),
      })
    })

    test('an app of an allowed agent may be named, and an agent includes all its apps', async () => {
      const key = await keyOf(undefined, { allowedAgents: ['dify/app-1', 'coze'] })
      const ask = (agent: string, app: string) => refusal(admit(admissionOf(key, { agent, app })))
      expect(await ask('dify', 'app-1')).toBe('admitted')
      expect(await ask('dify', 'app-2')).toBe('agent_denied')
      expect(await ask('dify', '')).toBe('agent_denied')
      expect(await ask('coze', 'any')).toBe('admitted')
      expect(await ask('fastgpt', 'app-1')).toBe('agent_denied')
    })

    test('the permission admin includes all, and uploads count for the key but not for the quota', async () => {
      const key = await keyOf(await userOf({ maxApiCalls: 1 }), { permissions: ['admin'] })
      const upload = { kind: 'upload' } as const
      await admit(admissionOf(key, upload))
      await admit(admissionOf(key))
      await admit(admissionOf(key, upload))
      expect(await refusal(admit(admissionOf(key)))).toBe('quota_exceeded')
      expect(await usageOf(key)).toMatchObject({ user: 1, key: 3, rows: 3 })
    })

    test.each([
      ['day', 1],
      ['month', 32],
    ] as const)('a quota by the %s restarts with the next one', async (quotaPeriod, daysAgo) => {
      const full = { quotaPeriod, maxApiCalls: 5, apiCallsCount: 5 }
      const past = await keyOf(await userOf({ ...full, quotaStart: inDays(-daysAgo) }))
      expect(await refusal(admit(admissionOf(past)))).toBe('admitted')
      expect(await usageOf(past)).toMatchObject({ user: 1 })
      const { quotaStart } = await database.prisma.user.findUniqueOrThrow({ where: { id: past.ownerId } })
      const [start] = await database.sql.query<{ at: Date }>(
        `SELECT date_trunc('${quotaPeriod}', clock_timestamp(), 'UTC') AS at`,
      )
      expect(quotaStart).toEqual(start?.at)

      const present = await keyOf(await userOf({ ...full, quotaStart }))
      expect(await refusal(admit(admissionOf(present)))).toBe('quota_exceeded')
    })

    test('without a period the quota never restarts', async () => {
      const key = await keyOf(await userOf({ maxApiCalls: 5, apiCallsCount: 5 }))
      expect(await refusal(admit(admissionOf(key)))).toBe('quota_exceeded')
    })

    test('a period never goes back, so a call by a lagging clock counts into the later period', async () => {
      const ahead = { quotaPeriod: 'day', maxApiCalls: 6, apiCallsCount: 5, quotaStart: dayStart(1) } as const
      const key = await keyOf(await userOf(ahead), { dayStart: dayStart(1), dayCalls: 7 })
      expect(await refusal(admit(admissionOf(key)))).toBe('admitted')
      expect(await usageOf(key)).toMatchObject({ user: 6, day: 8 })
      expect(await refusal(admit(admissionOf(key)))).toBe('quota_exceeded')
    })

    test("a time in the future in one user's rows affects only that user", async () => {
      const ahead = { quotaPeriod: 'day', apiCallsCount: 5, quotaStart: dayStart(2) } as const
      const skewed = await keyOf(await userOf(ahead), { dayStart: dayStart(2) })
      const counted = {
        quotaPeriod: 'day',
        maxApiCalls: 6,
        apiCallsCount: 5,
        quotaStart: dayStart(0),
      } as const
      const key = await keyOf(await userOf(counted), { dayStart: dayStart(0), dayCalls: 7 })
      const [first, second] = [admissionOf(key), admissionOf(key)]
      const results = [skewed, skewed].map((each) => refusal(admit(admissionOf(each))))
      expect(await Promise.all([refusal(admit(first)), ...results])).toEqual(Array(3).fill('admitted'))
      expect(await usageOf(key)).toMatchObject({ user: 6, day: 8 })
      expect((await rowOf(first.callId)).admittedAt.getTime()).toBeLessThan(dayStart(1).getTime())
      expect(await refusal(admit(second))).toBe('quota_exceeded')
    })

    test('a key expires by the clock alone, however far ahead its own counters are', async () => {
      const key = await keyOf(undefined, { dayStart: dayStart(2) })
      expect(await refusal(admit(admissionOf(key)))).toBe('admitted')
    })

    test("a key's day and month roll over by themselves; its total does not", async () => {
      const counted = { totalCalls: 50, dayCalls: 20, monthCalls: 40 }
      const month = dayStart(0)
      month.setUTCDate(1)
      const yesterday = await keyOf(undefined, { ...counted, dayStart: dayStart(-1), monthStart: month })
      const earlier = await keyOf(undefined, {
        ...counted,
        dayStart: dayStart(-40),
        monthStart: dayStart(-40),
      })
      const today = await keyOf(undefined, { ...counted, dayStart: dayStart(0), monthStart: month })
      for (const key of [yesterday, earlier, today]) await admit(admissionOf(key))
      expect(await usageOf(yesterday)).toMatchObject({ key: 51, day: 1, month: 41 })
      expect(await usageOf(earlier)).toMatchObject({ key: 51, day: 1, month: 1 })
      expect(await usageOf(today)).toMatchObject({ key: 51, day: 21, month: 41 })
    })
  })

  test('of 400 concurrent calls with two keys of a user, exactly the 100 of its remaining quota are admitted', async () => {
    const ownerId = await userOf({ maxApiCalls: 103, apiCallsCount: 3 })
    const keys = await Promise.all([keyOf(ownerId), keyOf(ownerId)])
    const others = [await keyOf(), await keyOf()]
    const keyOfCall = Array.from({ length: 400 }, (_, index) => keys[index % 2] as KeyRow)
    const results = await Promise.all(
      keyOfCall.flatMap((key, index) =>
        [key, others[index % 2] as KeyRow].map((each) => refusal(ledger.admit(admissionOf(each)))),
      ),
    )
    expect(
      results.filter((_, index) => index % 2 === 0).filter((reason) => reason === 'admitted'),
    ).toHaveLength(100)
    expect(results.filter((_, index) => index % 2 === 1)).toEqual(Array(400).fill('admitted'))
    const usages = await Promise.all([...keys, ...others].map(usageOf))
    expect(usages.map(({ user }) => user)).toEqual([103, 103, 200, 200])
    for (const { key, rows } of usages) expect(rows).toBe(key)
    expect((usages[0]?.key ?? 0) + (usages[1]?.key ?? 0)).toBe(100)
  })

  test('a value that the database rejects fails only its own call', async () => {
    const key = await keyOf()
    const good = Array.from({ length: 9 }, () => admissionOf(key))
    const bad = admissionOf(key, { app: 'a\u0000b' })
    const results = await Promise.allSettled(good.toSpliced(4, 0, bad).map((each) => ledger.admit(each)))
    expect(results.map(({ status }) => status)).toEqual(
      Array(9).fill('fulfilled').toSpliced(4, 0, 'rejected'),
    )
    expect(await usageOf(key)).toMatchObject({ user: 9, key: 9, rows: 9 })
  })

  test('an admission whose result is lost is retried and counted once', async () => {
    let losses = 2
    const sql = watched(database.sql, {
      after() {
        if (losses-- > 0) throw LOST
      },
    })
    const key = await keyOf(await userOf({ maxApiCalls: 2 }))
    const flaky = ledgerOf({ sql })
    const admissions = [admissionOf(key), admissionOf(key), admissionOf(key)]
    expect(await Promise.all(admissions.map((each) => refusal(flaky.admit(each))))).toEqual([
      'admitted',
      'admitted',
      'quota_exceeded',
    ])
    expect(await usageOf(key)).toMatchObject({ user: 2, key: 2, rows: 2 })
  })

  test('an admission whose results are all lost is rejected, and the call that it counted is settled', async () => {
    let isLosing = true
    let elapsedMs = 0
    const sql = watched(database.sql, {
      after() {
        if (isLosing) throw LOST
      },
    })
    const runtime = { ...systemRuntime, elapsedMs: () => (elapsedMs += 1_000) }
    const flaky = ledgerOf({ sql, runtime })
    const admission = admissionOf(await keyOf())
    expect(await refusal(flaky.admit(admission))).toBe('unavailable')
    isLosing = false
    await vi.waitFor(
      async () =>
        expect(await rowOf(admission.callId)).toMatchObject({ outcome: 'rejected', reason: 'unavailable' }),
      20_000,
    )
    await flaky.close(5_000)
  })

  test('an admission that waits for a hanging statement is rejected within two seconds and never sent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] })
    try {
      const hang = Promise.withResolvers<void>()
      const sent: string[] = []
      const sql = watched(database.sql, {
        before(_text, values) {
          sent.push(String(values[0]))
          return hang.promise
        },
      })
      const slow = ledgerOf({ sql })
      const key = await keyOf()
      const [first, behind] = [admissionOf(key), admissionOf(key)]
      const results = [refusal(slow.admit(first))]
      await vi.advanceTimersByTimeAsync(1)
      results.push(refusal(slow.admit(behind)))
      await vi.advanceTimersByTimeAsync(2_010)
      expect(await Promise.all(results)).toEqual(['unavailable', 'unavailable'])
      hang.resolve()
      await vi.waitFor(async () => expect((await rowOf(first.callId)).outcome).toBe('rejected'), 20_000)
      expect(sent.join()).not.toContain(behind.callId)
      expect(await usageOf(key)).toMatchObject({ key: 1, rows: 1 })
      await slow.close(5_000)
    } finally {
      vi.useRealTimers()
    }
  })

  test.runIf(kind === 'server')(
    'an admission that is retried while its first statement still runs counts once',
    async () => {
      const key = await keyOf()
      const admission = admissionOf(key)
      const started = Promise.withResolvers<void>()
      let first: Promise<unknown> | undefined
      const sql: Sql = {
        query<Row>(text: string, values?: readonly unknown[]) {
          const running = waitingForRows(database.sql).query<Row>(text, values)
          if (first !== undefined) {
            started.resolve()
            return running
          }
          first = running
          return Promise.reject(LOST)
        },
      }
      const locker = new pg.Client({ connectionString: fixture.url })
      await locker.connect()
      await locker.query('BEGIN')
      await locker.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [key.ownerId])
      const result = refusal(ledgerOf({ sql }).admit(admission))
      await started.promise
      // Both wait for the row, so that neither sees what the other writes.
      await vi.waitFor(async () => {
        const waiting = await locker.query(
          "SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')",
        )
        expect(waiting.rowCount).toBe(2)
      }, 20_000)
      await locker.query('COMMIT')
      await locker.end()
      await first
      expect(await result).toBe('admitted')
      expect(await usageOf(key)).toEqual({ user: 1, key: 1, day: 1, month: 1, rows: 1 })
    },
  )

  test('while the database is down, a call is rejected within two seconds', async () => {
    let elapsedMs = 0
    const runtime = { ...systemRuntime, elapsedMs: () => (elapsedMs += 1_000) }
    const down = ledgerOf({ sql: { query: () => Promise.reject(LOST) }, runtime })
    await expect(down.admit(admissionOf(await keyOf()))).rejects.toMatchObject({
      reason: 'unavailable',
      retryAfterSeconds: 1,
    })
  })

  test('the first end of a call is written, and later ones are ignored', async () => {
    const { callId } = await admitted()
    const tokens = { promptTokens: 7, completionTokens: 11, totalTokens: 18 }
    const times = { queuedMs: 7.5, firstChunkMs: 12.6, durationMs: 99.4 }
    const sent = { deployment: 'eu', attempts: 2 }
    ledger.settle({ callId, outcome: 'done', model: 'm', ...sent, ...tokens, ...times })
    await ledger.close(5_000)
    ledger.settle({ callId, outcome: 'client_gone', deployment: 'us', attempts: 3, durationMs: 100 })
    await ledger.close(5_000)
    expect(await rowOf(callId)).toMatchObject({
      outcome: 'done',
      reason: null,
      ...sent,
      queuedMs: 8,
      model: 'm',
      ...tokens,
      firstChunkMs: 13,
      durationMs: 99,
      platformStatus: null,
      platformCode: null,
      platformLogId: null,
      attemptList: null,
      traceId: null,
      endedAt: expect.any(Date),
    })
  })

  test('unknown values stay null, and values that no column can hold become null', async () => {
    const failed = await admitted()
    const odd = await admitted()
    const platform = { platformStatus: 503, platformCode: 'busy\u0000\ud83d', platformLogId: 'l'.repeat(300) }
    ledger.settle({ ...failed, outcome: 'upstream_error', reason: 'agent_error', ...platform, durationMs: 5 })
    const figures = { promptTokens: 2 ** 31, completionTokens: -1, totalTokens: Number.NaN }
    ledger.settle({ ...odd, outcome: 'done', ...figures, durationMs: 5 })
    await ledger.close(5_000)
    const tokens = { promptTokens: null, completionTokens: null, totalTokens: null }
    const unknown = { ...tokens, firstChunkMs: null, deployment: null, attempts: null, queuedMs: null }
    expect(await rowOf(failed.callId)).toMatchObject({
      outcome: 'upstream_error',
      reason: 'agent_error',
      model: null,
      ...unknown,
      platformStatus: 503,
      platformCode: 'busy\ufffd',
      platformLogId: 'l'.repeat(200),
    })
    expect(await rowOf(odd.callId)).toMatchObject({ outcome: 'done', ...unknown })
  })

  test('the attempts and the trace are stored as they were given, without what is absent', async () => {
    const { callId } = await admitted()
    const failed = {
      deployment: 'eu',
      startMs: 0.4,
      durationMs: 12.6,
      outcome: 'timeout',
      reason: 'agent_timeout',
    } as const
    const attemptList = [
      { ...failed, platformStatus: 504 },
      { deployment: 'us', startMs: 213, durationMs: 40, outcome: 'done' } as const,
    ]
    ledger.settle({
      callId,
      outcome: 'done',
      durationMs: 253,
      attempts: 2,
      attemptList,
      trace: { traceId: 'a'.repeat(32), headers: () => ({}) },
    })
    await ledger.close(5_000)
    const row = await rowOf(callId)
    expect(row.traceId).toBe('a'.repeat(32))
    expect(row.attemptList).toEqual([
      {
        deployment: 'eu',
        start_ms: 0,
        duration_ms: 13,
        outcome: 'timeout',
        reason: 'agent_timeout',
        platform_status: 504,
      },
      { deployment: 'us', start_ms: 213, duration_ms: 40, outcome: 'done' },
    ])
  })

  test('an end with a value that the database rejects is settled as interrupted, and the others of its batch are written', async () => {
    const reported: string[] = []
    const settleFailed = (_error: unknown, callId: string) => reported.push(callId)
    const observer = { batch: () => undefined, settleFailed }
    const instanceId = v7()
    const own = ledgerOf({ instanceId, observer })
    const calls = await Promise.all(
      [0, 1, 2, 3].map(async () => {
        const admission = admissionOf(await keyOf())
        await own.admit(admission)
        return admission
      }),
    )
    for (const [index, { callId }] of calls.entries()) {
      const platform = { ...(index === 2 && { deployment: 'a\u0000b' }), platformStatus: 2 ** 40 }
      own.settle({ callId, outcome: 'done', durationMs: 1, totalTokens: 18, ...platform })
    }
    expect(await own.close(5_000)).toBe(0)
    const rows = await Promise.all(calls.map(({ callId }) => rowOf(callId)))
    expect(rows.map(({ outcome, totalTokens }) => [outcome, totalTokens])).toEqual([
      ['done', 18],
      ['done', 18],
      ['interrupted', 18],
      ['done', 18],
    ])
    expect(rows[2]).toMatchObject({ reason: 'interrupted', deployment: null, endedAt: expect.any(Date) })
    expect(reported).toEqual([calls[2]?.callId])
  })

  test('an end is retried until the database accepts it, and closing waits for that', async () => {
    let losses = 2
    const sql = watched(database.sql, {
      before(text) {
        if (text.includes('UPDATE calls') && losses-- > 0) throw LOST
      },
    })
    const flaky = ledgerOf({ sql })
    const admission = admissionOf(await keyOf())
    await flaky.admit(admission)
    expect(flaky.backlog()).toEqual({ waiting: 0, oldestMs: 0 })
    flaky.settle({ ...admission, outcome: 'done', durationMs: 1 })
    await vi.waitFor(() => expect(flaky.backlog().oldestMs).toBeGreaterThan(0))
    expect(flaky.backlog().waiting).toBe(1)
    await flaky.close(5_000)
    expect((await rowOf(admission.callId)).outcome).toBe('done')
    expect(flaky.backlog()).toEqual({ waiting: 0, oldestMs: 0 })
  })

  test('a settlement batch that takes too long is written in smaller ones', async () => {
    const own = v7()
    const sizes: number[] = []
    const sql = watched(database.sql, {
      before(text, [rows]) {
        if (!text.includes('UPDATE calls')) return
        const { length } = JSON.parse(String(rows)) as unknown[]
        sizes.push(length)
        if (length > 10) throw tooSlow
      },
    })
    const slow = ledgerOf({ sql, instanceId: own })
    const key = await keyOf()
    const admissions = Array.from({ length: 40 }, () => admissionOf(key))
    await Promise.all(admissions.map((each) => slow.admit(each)))
    for (const { callId } of admissions) slow.settle({ callId, outcome: 'done', durationMs: 1 })
    await slow.close(10_000)
    expect(sizes.slice(0, 3)).toEqual([40, 20, 10])
    expect(await database.prisma.call.count({ where: { keyId: key.id, outcome: 'done' } })).toBe(40)
  })

  test('an end that times out is retried and delays no other', async () => {
    let tries = 0
    const [stuck, free] = [admissionOf(await keyOf()), admissionOf(await keyOf())]
    const sql = watched(database.sql, {
      before(text, [rows]) {
        const isStuck = text.includes('UPDATE calls') && String(rows).includes(stuck.callId)
        if (isStuck && tries++ < 4) throw tooSlow
      },
    })
    const slow = ledgerOf({ sql })
    await Promise.all([slow.admit(stuck), slow.admit(free)])
    for (const { callId } of [stuck, free]) slow.settle({ callId, outcome: 'done', durationMs: 1 })
    await vi.waitFor(async () => expect((await rowOf(free.callId)).outcome).toBe('done'), 20_000)
    expect((await rowOf(stuck.callId)).outcome).toBeNull()
    await slow.close(10_000)
    expect((await rowOf(stuck.callId)).outcome).toBe('done')
  })

  test.runIf(kind === 'server')('an end whose row is locked waits, and the others are written', async () => {
    const impatient = await fixture.openAnother({ statementTimeoutMs: 200 })
    const own = ledgerOf({ sql: impatient.sql })
    const calls = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const admission = admissionOf(await keyOf(undefined, { permissions: ['chat'] }), {
          agent: v7().slice(0, 8),
        })
        await own.admit(admission)
        return admission.callId
      }),
    )
    const [locked = '', ...free] = calls
    const locker = new pg.Client({ connectionString: fixture.url })
    await locker.connect()
    await locker.query('BEGIN')
    await locker.query('SELECT FROM calls WHERE id = $1 FOR UPDATE', [locked])
    for (const callId of calls) own.settle({ callId, outcome: 'done', durationMs: 1 })
    const outcomesOf = async (ids: string[]) =>
      (await Promise.all(ids.map(rowOf))).map(({ outcome }) => outcome)
    await vi.waitFor(async () => expect(await outcomesOf(free)).toEqual(['done', 'done', 'done']), 20_000)
    expect(await outcomesOf([locked])).toEqual([null])
    await locker.query('COMMIT')
    await locker.end()
    await own.close(10_000)
    expect(await outcomesOf([locked])).toEqual(['done'])
    await impatient.close()
  })

  test('an admission batch that the database cancels after its timeout counts nothing and is retried in smaller ones', async () => {
    const sent: number[] = []
    const sql = watched(database.sql, {
      before(_text, [rows]) {
        const { length } = JSON.parse(String(rows)) as unknown[]
        sent.push(length)
        if (length > 2) throw tooSlow
      },
    })
    const slow = ledgerOf({ sql })
    const key = await keyOf()
    const results = await Promise.all(Array.from({ length: 8 }, () => refusal(slow.admit(admissionOf(key)))))
    expect(results).toEqual(Array(8).fill('admitted'))
    expect(sent.slice(0, 3)).toEqual([8, 4, 2])
    expect(await usageOf(key)).toMatchObject({ key: 8, rows: 8 })

    const never = ledgerOf({ sql: { query: () => Promise.reject(tooSlow) } })
    expect(await refusal(never.admit(admissionOf(key)))).toBe('unavailable')
  })

  test('a successor settles open calls as interrupted, which only a late settlement by their own process replaces', async () => {
    const own = ledgerOf()
    const [open, ended, late] = await Promise.all([admitted(own), admitted(own), admitted(own)])
    own.settle({ ...ended, outcome: 'timeout', durationMs: 1 })
    await own.close(5_000)
    const successor = ledgerOf()
    const running = await admitted(successor)

    expect(await successor.settlePredecessors()).toBeGreaterThanOrEqual(2)
    const outcomes = async () =>
      (await Promise.all([open, ended, late, running].map(({ callId }) => rowOf(callId)))).map(
        ({ outcome }) => outcome,
      )
    expect(await outcomes()).toEqual(['interrupted', 'timeout', 'interrupted', null])

    own.settle({ ...late, outcome: 'done', durationMs: 1 })
    own.settle({ ...ended, outcome: 'done', durationMs: 1 })
    // The successor did not run this call, so its settlement is ignored.
    successor.settle({ ...open, outcome: 'done', durationMs: 1 })
    await Promise.all([own.close(5_000), successor.close(5_000)])
    expect(await outcomes()).toEqual(['interrupted', 'timeout', 'done', null])
  })

  test('an interrupted call has neither deployment nor attempts until its own process says them', async () => {
    const own = ledgerOf()
    const { callId } = await admitted(own)
    await ledgerOf().settlePredecessors()
    const interrupted = { outcome: 'interrupted', deployment: null, attempts: null, queuedMs: null }
    expect(await rowOf(callId)).toMatchObject(interrupted)
    const sent = { deployment: 'us', attempts: 3, queuedMs: 0 }
    own.settle({ callId, outcome: 'upstream_error', ...sent, durationMs: 1 })
    await own.close(5_000)
    expect(await rowOf(callId)).toMatchObject({ outcome: 'upstream_error', ...sent })
  })

  test.runIf(kind === 'server')(
    'two processes with the same keys and users neither deadlock nor miscount',
    async () => {
      const other = await fixture.openAnother()
      // The retry of the batch would hide a deadlock.
      const failures: unknown[] = []
      const watching = (sql: Sql) =>
        watched(sql, { failed: (error) => isLockTimeout(error) || failures.push(error) })
      const ledgers = [database, other, database, other].map(({ sql }) => ledgerOf({ sql: watching(sql) }))
      const quotas = [50, ...Array<number>(9).fill(1_000)]
      const users = await Promise.all(quotas.map((maxApiCalls) => userOf({ maxApiCalls })))
      const keys = await Promise.all(users.flatMap((user) => [keyOf(user), keyOf(user)]))
      const runCallOn = (process: Ledger) => async (key: KeyRow) => {
        const admission = admissionOf(key)
        const reason = await refusal(process.admit(admission))
        if (reason === 'admitted') process.settle({ ...admission, outcome: 'done', durationMs: 1 })
        return { key, reason }
      }
      const ofProcesses = await Promise.all(
        ledgers.map(async (process, index) => {
          const keyOfCall = Array.from(
            { length: 600 },
            (_, nth) => keys[(nth + index) % keys.length] as KeyRow,
          )
          // Half of the processes send all calls at once, the others one at a time, which uses another statement.
          if (index < 2) return Promise.all(keyOfCall.map(runCallOn(process)))
          const resultsOfProcess: Awaited<ReturnType<ReturnType<typeof runCallOn>>>[] = []
          for (const key of keyOfCall) resultsOfProcess.push(await runCallOn(process)(key))
          return resultsOfProcess
        }),
      )
      const results = ofProcesses.flat()
      await Promise.all(ledgers.map((each) => each.close(10_000)))
      expect(failures).toEqual([])
      expect(new Set(results.map(({ reason }) => reason))).toEqual(new Set(['admitted', 'quota_exceeded']))
      const admittedOf = (match: (key: KeyRow) => boolean) =>
        results.filter(({ key, reason }) => reason === 'admitted' && match(key)).length
      for (const key of keys) {
        const usage = await usageOf(key)
        const expected = admittedOf(({ id }) => id === key.id)
        expect(usage).toMatchObject({
          key: expected,
          rows: expected,
          user: admittedOf((each) => each.ownerId === key.ownerId),
        })
      }
      expect(admittedOf(({ ownerId }) => ownerId === users[0])).toBe(50)
      expect(
        await database.prisma.call.count({
          where: { keyId: { in: keys.map(({ id }) => id) }, outcome: null },
        }),
      ).toBe(0)
      await other.close()
    },
  )

  async function admitted(by = ledger): Promise<Pick<Settlement, 'callId'>> {
    const admission = admissionOf(await keyOf())
    await by.admit(admission)
    return { callId: admission.callId }
  }
})

/** Midnight in UTC, a number of days from now. */
function dayStart(days: number): Date {
  const day = inDays(days)
  day.setUTCHours(0, 0, 0, 0)
  return day
}
