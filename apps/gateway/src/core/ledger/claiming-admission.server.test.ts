import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isLockTimeout } from '#core/base/errors/connection-error.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { rowsOf } from '#core/database/table-rows.test-support.ts'
import type { Admission, KeptAdmission } from './admission-row.ts'
import { FREE_LATE } from './claiming-admission-sql.ts'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  LOST,
  openLedgerFixture,
  randomHash,
  waitingForRows,
  watched,
} from './ledger.test-support.ts'
import type { Ledger } from './ledger.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

/** What became of a kept call: `own` if it was admitted by itself, `attached` with the earlier call, or the reason of its refusal. */
type Result = 'own' | { readonly attachedTo: string } | string

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

  const withQuota = async (maxApiCalls: number) => keyOf(await userOf({ maxApiCalls }))

  /** Sends the admissions at once, so that they share a batch unless one is alone. */
  const admitAll = (calls: readonly Admission[], by = ledger): Promise<Result[]> =>
    Promise.all(calls.map((call) => resultOf(by.admit(call))))

  const admit = async (call: Admission, by = ledger): Promise<Result> => resultOf(by.admit(call))

  const claimsOf = ({ id }: KeyRow) =>
    database.sql.query<{ hash: string; fingerprint: string; call: string }>(
      `SELECT encode(hash, 'hex') AS hash, encode(fingerprint, 'hex') AS fingerprint, call_id AS call
       FROM idempotency_keys WHERE key_id = $1`,
      [id],
    )

  const keptOf = ({ id }: KeyRow) =>
    rowsOf<{ callId: string; keyHash: Buffer }>(database.sql, 'kept_calls', { key_id: id })

  /** Of this key: claims, kept calls, ledger rows and the two counters. They agree if all its calls are kept and own a claim. */
  async function countsOf(key: KeyRow) {
    const { user, key: counted, rows } = await usageOf(key)
    return {
      claims: (await claimsOf(key)).length,
      kept: (await keptOf(key)).length,
      rows,
      counted,
      user,
    }
  }

  const NONE = { claims: 0, kept: 0, rows: 0, counted: 0, user: 0 }
  const ONE = { claims: 1, kept: 1, rows: 1, counted: 1, user: 1 }

  test('an admitted kept call is in the ledger like any other, has its claim, and a row for its reply', async () => {
    const key = await keyOf()
    const instanceId = v7()
    const call = keptCall(key, { kept: keptOnce({ stream: true }), conversation: 'chat-1', face: 'openai' })
    const own = ledgerOf({ instanceId })
    expect(await own.admit(call)).toEqual({ keyId: key.id, ownerId: key.ownerId })
    expect(await countsOf(key)).toEqual(ONE)
    const { keyHash, fingerprint } = call.kept
    expect(await claimsOf(key)).toEqual([{ hash: keyHash, fingerprint, call: call.callId }])
    expect(await keptOf(key)).toEqual([
      expect.objectContaining({
        callId: call.callId,
        keyId: key.id,
        ownerId: key.ownerId,
        face: 'openai',
        conversation: 'chat-1',
        stream: true,
        instance: instanceId,
        endedAt: null,
        bytes: 0,
      }),
    ])
    expect(Buffer.from((await keptOf(key))[0]?.keyHash ?? '').toString('hex')).toBe(keyHash)
    expect(await database.prisma.call.findUniqueOrThrow({ where: { id: call.callId } })).toMatchObject({
      outcome: null,
      instance: instanceId,
      replays: 0,
    })
  })

  test('calls without an Idempotency-Key share no statement with those that claim one', async () => {
    const texts: string[] = []
    const watching = ledgerOf({ sql: watched(database.sql, { before: (text) => texts.push(text) }) })
    const key = await keyOf()
    await admit(admissionOf(key), watching)
    await admitAll([admissionOf(key), admissionOf(key)], watching)
    await admit(keptCall(key), watching)
    await admitAll([admissionOf(key), keptCall(key)], watching)
    expect(texts.map((text) => text.includes('idempotency_keys'))).toEqual([false, false, true, false, true])
    expect(await usageOf(key)).toMatchObject({ user: 6, key: 6, rows: 6 })
  })

  test('of many calls with one key in a batch the first is admitted and counted, and the others are attached to it', async () => {
    const key = await keyOf()
    const kept = keptOnce()
    const calls = Array.from({ length: 200 }, () => keptCall(key, { kept }))
    const [first, ...others] = await admitAll(calls)
    expect(first).toBe('own')
    expect(others).toEqual(Array(199).fill({ attachedTo: calls[0]?.callId }))
    expect(await countsOf(key)).toEqual(ONE)
  })

  test('a later call with the key is attached to the first one, with its key and owner', async () => {
    const key = await keyOf()
    const first = keptCall(key)
    await ledger.admit(first)
    const again = keptCall(key, { kept: first.kept })
    expect(await ledger.admit(again)).toEqual({
      keyId: key.id,
      ownerId: key.ownerId,
      attachedTo: first.callId,
    })
    expect(await countsOf(key)).toEqual(ONE)
  })

  test('each API key has keys of its own, also within one user and one batch', async () => {
    const ownerId = await userOf()
    const keys = [await keyOf(ownerId), await keyOf(ownerId), await keyOf()]
    const kept = keptOnce()
    const calls = keys.map((key) => keptCall(key, { kept }))
    expect(await admitAll(calls)).toEqual(['own', 'own', 'own'])
    const again = await admitAll(keys.map((key) => keptCall(key, { kept })))
    expect(again).toEqual(calls.map(({ callId }) => ({ attachedTo: callId })))
  })

  test.each(['known before', 'of the same batch'])(
    'a call that asks something else than the first one, %s, is refused',
    async (when) => {
      const key = await keyOf()
      const kept = keptOnce()
      const first = keptCall(key, { kept })
      if (when === 'known before') await ledger.admit(first)
      const other = keptCall(key, { kept: { ...kept, fingerprint: randomHash() } })
      const [mine, mismatch, same] = await admitAll([first, other, keptCall(key, { kept })])
      expect([mine, mismatch, same]).toEqual(['own', 'idempotency_mismatch', { attachedTo: first.callId }])
      expect(await countsOf(key)).toEqual(ONE)
      await expect(ledger.admit({ ...other, callId: v7() })).rejects.toMatchObject({ status: 422 })
    },
  )

  test('an attached call needs no quota, neither for itself nor before those behind it', async () => {
    const key = await withQuota(2)
    const [kept, next] = [keptOnce(), keptOnce()]
    const first = keptCall(key, { kept })
    const attached = { attachedTo: first.callId }
    // The last one has the second unit, since the two before it take none.
    const calls = [first, keptCall(key, { kept }), keptCall(key, { kept }), keptCall(key, { kept: next })]
    expect(await admitAll(calls)).toEqual(['own', attached, attached, 'own'])
    expect(await admitAll([keptCall(key, { kept }), keptCall(key)])).toEqual([attached, 'quota_exceeded'])
    expect(await admit(keptCall(key, { kept }))).toEqual(attached)
    expect(await usageOf(key)).toMatchObject({ user: 2, key: 2, rows: 2 })
  })

  test('a call over its quota leaves no claim, and those that follow it get its refusal', async () => {
    const key = await withQuota(1)
    const kept = keptOnce()
    const others = [keptCall(key, { kept }), keptCall(key, { kept: { ...kept, fingerprint: randomHash() } })]
    expect(await admit(admissionOf(key))).toBe('own')
    const results = await admitAll([keptCall(key, { kept }), ...others])
    expect(results).toEqual(['quota_exceeded', 'quota_exceeded', 'quota_exceeded'])
    await expect(ledger.admit(keptCall(key, { kept }))).rejects.toMatchObject({
      detail: 'max_api_calls of 1 is reached; an administrator can raise it.',
    })
    expect(await countsOf(key)).toEqual({ ...NONE, rows: 1, counted: 1, user: 1 })
    await database.prisma.user.update({ where: { id: key.ownerId }, data: { maxApiCalls: 2 } })
    expect(await admit(keptCall(key, { kept }))).toBe('own')
    expect((await claimsOf(key)).map(({ hash }) => hash)).toEqual([kept.keyHash])
  })

  test('a refused call leaves no claim, and does not stand before one with the same key that is not refused', async () => {
    const revoked = await keyOf(undefined, { revokedAt: new Date() })
    const calls = [keptCall(revoked), keptCall({ id: v7(), hash: randomHash() })]
    expect(await admitAll(calls)).toEqual(['key_revoked', 'key_unknown'])
    expect(await countsOf(revoked)).toEqual(NONE)

    const limited = await keyOf(undefined, { allowedAgents: ['dify'] })
    const kept = keptOnce()
    const [denied, allowed] = [keptCall(limited, { kept, agent: 'coze' }), keptCall(limited, { kept })]
    expect(await admitAll([denied, allowed, { ...denied, callId: v7() }])).toEqual([
      'agent_denied',
      'own',
      'agent_denied',
    ])
    expect((await claimsOf(limited)).map(({ call }) => call)).toEqual([allowed.callId])
  })

  test('a key that may not be used any more is not attached to its own earlier call', async () => {
    const key = await keyOf()
    const first = keptCall(key)
    await ledger.admit(first)
    await database.prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } })
    expect(await admit(keptCall(key, { kept: first.kept }))).toBe('key_revoked')
  })

  test('a value that the database rejects fails only its own call', async () => {
    const key = await keyOf()
    const kept = keptOnce()
    const bad = keptCall(key, { kept, app: 'a\u0000b' })
    const good = [keptCall(key, { kept }), keptCall(key, { kept })] as const
    const results = await Promise.allSettled([bad, ...good].map((each) => ledger.admit(each)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(await countsOf(key)).toEqual(ONE)
  })

  test('after a lost answer a call stays admitted as its own, and others stay attached to it', async () => {
    let losses = 2
    const sql = watched(database.sql, {
      after() {
        if (losses-- > 0) throw LOST
      },
    })
    const key = await withQuota(2)
    const kept = keptOnce()
    const calls = [keptCall(key, { kept }), keptCall(key, { kept }), keptCall(key), keptCall(key)]
    expect(await admitAll(calls, ledgerOf({ sql }))).toEqual([
      'own',
      { attachedTo: calls[0]?.callId },
      'own',
      'quota_exceeded',
    ])
    expect(await countsOf(key)).toEqual({ claims: 2, kept: 2, rows: 2, counted: 2, user: 2 })
    losses = 1
    const alone = await keyOf()
    expect(await admit(keptCall(alone), ledgerOf({ sql }))).toBe('own')
    expect(await countsOf(alone)).toEqual(ONE)
  })

  describe('an admission that is too late for its caller', () => {
    /** Rejects this call by the deadline of its admission, whose statement then goes on, and waits for what the ledger writes after. */
    async function admitLate(call: Admission, failures = 0): Promise<{ result: Result; texts: string[] }> {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] })
      const texts: string[] = []
      const hang = Promise.withResolvers<void>()
      const answered = Promise.withResolvers<void>()
      let left = failures
      const sql: Sql = {
        async query<Row>(text: string, values?: readonly unknown[]) {
          texts.push(text)
          if (text.includes('DELETE FROM kept_calls') && left-- > 0) throw LOST
          if (texts.length > 1) return database.sql.query<Row>(text, values)
          await hang.promise
          return database.sql.query<Row>(text, values).finally(answered.resolve)
        },
      }
      const slow = ledgerOf({ sql })
      try {
        const pending = admit(call, slow)
        await vi.advanceTimersByTimeAsync(2_010)
        const result = await pending
        hang.resolve()
        await answered.promise
        // The settlement, and its further tries.
        await vi.advanceTimersByTimeAsync(20)
        for (let tries = 0; tries < failures; tries += 1) {
          await vi.waitFor(() => expect(texts.at(-1)).toContain('DELETE FROM kept_calls'))
          await vi.advanceTimersByTimeAsync(200)
        }
        return { result, texts }
      } finally {
        vi.useRealTimers()
        await slow.close(20_000)
      }
    }

    const outcomeOf = async ({ callId }: Admission) =>
      (await database.prisma.call.findUnique({ where: { id: callId } }))?.outcome

    test.each([0, 2])(
      'is settled, and its key is free again, also if that fails %i times',
      async (failures) => {
        const key = await keyOf()
        const call = keptCall(key)
        const { result, texts } = await admitLate(call, failures)
        expect(result).toBe('unavailable')
        expect(texts.filter((text) => text.includes('DELETE FROM kept_calls'))).toHaveLength(failures + 1)
        expect(await outcomeOf(call)).toBe('rejected')
        expect(await countsOf(key)).toEqual({ ...ONE, claims: 0, kept: 0 })
        expect(await admit(keptCall(key, { kept: call.kept }))).toBe('own')
      },
    )

    test('settles and frees nothing if it turns out to be attached', async () => {
      const key = await keyOf()
      const first = keptCall(key)
      await ledger.admit(first)
      const { result, texts } = await admitLate(keptCall(key, { kept: first.kept }))
      expect(result).toBe('unavailable')
      expect(texts).toHaveLength(1)
      expect(await outcomeOf(first)).toBeNull()
      expect(await countsOf(key)).toEqual(ONE)
    })

    test('frees nothing of ordinary calls', async () => {
      const call = admissionOf(await keyOf())
      const { texts } = await admitLate(call)
      expect(await outcomeOf(call)).toBe('rejected')
      expect(texts.some((text) => text.includes('kept_calls'))).toBe(false)
    })
  })

  test('an admission whose answers are all lost is rejected, and its key is free again', async () => {
    let isLosing = true
    let elapsedMs = 0
    const sql = watched(database.sql, {
      after() {
        if (isLosing) throw LOST
      },
    })
    const runtime = { ...systemRuntime, elapsedMs: () => (elapsedMs += 1_000) }
    const flaky = ledgerOf({ sql, runtime })
    const key = await keyOf()
    const [mine, other] = [keptCall(key), keptCall(key)]
    await ledger.admit(other)
    expect(await admitAll([mine, keptCall(key, { kept: other.kept })], flaky)).toEqual([
      'unavailable',
      'unavailable',
    ])
    isLosing = false
    await flaky.close(20_000)
    // The one that was attached has freed nothing.
    expect((await claimsOf(key)).map(({ call }) => call)).toEqual([other.callId])
    expect((await keptOf(key)).map(({ callId }) => callId)).toEqual([other.callId])
    const row = await database.prisma.call.findUniqueOrThrow({ where: { id: mine.callId } })
    expect(row).toMatchObject({ outcome: 'rejected', reason: 'unavailable' })
  })

  describe.runIf(kind === 'server')('several processes at once', () => {
    /** Admits these calls, each on its own connection, while all wait for a lock of the owner, so that none sees another's claim. */
    async function admitTogether(key: KeyRow, calls: readonly Admission[]): Promise<Result[]> {
      const locker = new pg.Client({ connectionString: fixture.url })
      await locker.connect()
      try {
        await locker.query('BEGIN')
        await locker.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [key.ownerId])
        const sql = waitingForRows(database.sql)
        const results = Promise.all(calls.map((call) => admit(call, ledgerOf({ sql }))))
        await untilWaiting(locker, calls.length)
        await locker.query('COMMIT')
        return await results
      } finally {
        await locker.end()
      }
    }

    test('a call learns of a claim that was committed after its statement began', async () => {
      const key = await keyOf()
      const kept = keptOnce()
      const calls = [0, 1, 2].map(() => keptCall(key, { kept }))
      const results = await admitTogether(key, calls)
      const first = calls[results.indexOf('own')]
      expect(results.toSorted(byText)).toEqual(
        ['own', ...Array(2).fill({ attachedTo: first?.callId })].toSorted(byText),
      )
      expect(await countsOf(key)).toEqual(ONE)

      const others = [0, 1].map(() =>
        keptCall(key, { kept: { ...kept, keyHash: 'ab'.repeat(32), fingerprint: randomHash() } }),
      )
      expect((await admitTogether(key, others)).toSorted(byText)).toEqual(
        ['own', 'idempotency_mismatch'].toSorted(byText),
      )
    })

    test('for the last unit of a quota the second one is refused, and attached when it tries again', async () => {
      const key = await withQuota(1)
      const kept = keptOnce()
      const calls = [0, 1].map(() => keptCall(key, { kept }))
      const results = await admitTogether(key, calls)
      expect(results.toSorted(byText)).toEqual(['own', 'quota_exceeded'].toSorted(byText))
      const first = calls[results.indexOf('own')]
      expect(await admit(keptCall(key, { kept }))).toEqual({ attachedTo: first?.callId })
      expect(await countsOf(key)).toEqual(ONE)
    })

    test('a call waits for a claim that is being freed, and then has the key for itself', async () => {
      const key = await keyOf()
      const kept = keptOnce()
      const first = keptCall(key, { kept })
      const locker = new pg.Client({ connectionString: fixture.url })
      await locker.connect()
      // The claim is invisible to the admission when it begins, and deleted when it meets it.
      await locker.query('BEGIN')
      await locker.query(
        `INSERT INTO idempotency_keys (key_id, hash, fingerprint, call_id)
         VALUES ($1, decode($2, 'hex'), decode($3, 'hex'), $4)`,
        [key.id, kept.keyHash, kept.fingerprint, first.callId],
      )
      const result = admit(keptCall(key, { kept }), ledgerOf({ sql: waitingForRows(database.sql) }))
      await untilWaiting(locker, 1)
      await locker.query('DELETE FROM idempotency_keys WHERE call_id = $1', [first.callId])
      await locker.query('COMMIT')
      await locker.end()
      expect(await result).toBe('own')
      expect(await countsOf(key)).toEqual(ONE)
    })

    test('four processes with the same users, keys and Idempotency-Keys neither deadlock nor miscount', async () => {
      const databases = await Promise.all([0, 1, 2, 3].map(() => fixture.openAnother()))
      // The retry of a batch would hide a deadlock.
      const failures: unknown[] = []
      const watching = (sql: Sql) =>
        watched(sql, { failed: (error) => isLockTimeout(error) || failures.push(error) })
      const users = await Promise.all([30, 1_000, 1_000, 1_000].map((maxApiCalls) => userOf({ maxApiCalls })))
      const keys = await Promise.all(users.flatMap((user) => [keyOf(user), keyOf(user)]))
      // All processes make the same calls, so that they race for each claim, and each makes every kept one twice.
      const keptHashes = Array.from({ length: 200 }, () => randomHash())
      const fingerprints = [randomHash(), randomHash()] as const
      const callOf = (nth: number): { key: KeyRow; call: Admission } => {
        const key = keys[(nth * 3) % keys.length] as KeyRow
        if (nth % 4 === 0) return { key, call: admissionOf(key) }
        const keyHash = keptHashes[nth % keptHashes.length] as string
        const kept = { keyHash, fingerprint: fingerprints[nth % 9 === 1 ? 1 : 0], stream: nth % 2 === 0 }
        return { key, call: admissionOf(key, { kept }) }
      }

      const freed = new Set<string>()
      const ofProcesses = await Promise.all(
        databases.map(async (each, process) => {
          const instanceId = v7()
          const sql = watching(each.sql)
          const by = ledgerOf({ sql, instanceId })
          const calls = Array.from({ length: 400 }, (_, nth) => callOf(nth))
          const run = async (made: (typeof calls)[number]) => ({
            ...made,
            result: await admit(made.call, by),
          })
          // Half of the processes send all calls at once, the others a few at a time, and free some of their claims.
          if (process < 2) return Promise.all(calls.map(run))
          const done: Awaited<ReturnType<typeof run>>[] = []
          for (let from = 0; from < calls.length; from += 5) {
            const made = await Promise.all(calls.slice(from, from + 5).map(run))
            done.push(...made)
            const ids = made.flatMap(({ call, result }) =>
              call.kept && result === 'own' ? [call.callId] : [],
            )
            for (const id of ids) freed.add(id)
            await sql.query(FREE_LATE, [JSON.stringify(ids), instanceId])
          }
          return done
        }),
      )
      const results = ofProcesses.flat()
      expect(failures).toEqual([])

      const owns = results.filter(({ result }) => result === 'own')
      const ownKept = new Map(
        owns.flatMap(({ key, call }) => (call.kept ? [[call.callId, { key, ...call.kept }]] : [])),
      )
      for (const key of keys) {
        const mine = owns.filter((each) => each.key === key)
        const ofUser = owns.filter((each) => each.key.ownerId === key.ownerId)
        expect(await usageOf(key)).toMatchObject({
          user: ofUser.length,
          key: mine.length,
          rows: mine.length,
        })
        const inUse = mine.flatMap(({ call }) => (call.kept && !freed.has(call.callId) ? [call.callId] : []))
        // A key has one claim, so no two calls in use have the same.
        expect((await claimsOf(key)).map(({ call }) => call).sort()).toEqual(inUse.sort())
        expect((await keptOf(key)).map(({ callId }) => callId).sort()).toEqual(inUse)
      }
      for (const { key, call, result } of results) {
        if (typeof result === 'string') continue
        const { keyHash, fingerprint } = ownKept.get(result.attachedTo) ?? {}
        expect({ key, keyHash, fingerprint }).toEqual({
          key: ownKept.get(result.attachedTo)?.key,
          keyHash: call.kept?.keyHash,
          fingerprint: call.kept?.fingerprint,
        })
      }
      const reasons = new Set(results.map(({ result }) => (typeof result === 'string' ? result : 'attached')))
      expect(reasons).toEqual(new Set(['own', 'attached', 'idempotency_mismatch', 'quota_exceeded']))
      expect(owns.filter(({ key }) => key.ownerId === users[0])).toHaveLength(30)
      const refused = results.filter(({ result }) => result === 'quota_exceeded')
      expect(new Set(refused.map(({ key }) => key.ownerId))).toEqual(new Set([users[0]]))
      await Promise.all(databases.map((each) => each.close()))
    })
  })
})

/** Waits until so many statements of this database wait for a lock. */
async function untilWaiting(client: pg.Client, statements: number): Promise<void> {
  await vi.waitFor(async () => {
    const waiting = await client.query(
      `SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple') AND pid IN (
         SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))`,
    )
    expect(waiting.rowCount).toBe(statements)
  }, 20_000)
}

function keptOnce(more: Partial<KeptAdmission> = {}): KeptAdmission {
  return { keyHash: randomHash(), fingerprint: randomHash(), stream: false, ...more }
}

/** By default with an `Idempotency-Key` of its own. */
function keptCall(
  key: Pick<KeyRow, 'id' | 'hash'>,
  { kept = keptOnce(), ...more }: Partial<Admission> = {},
): Admission & { readonly kept: KeptAdmission } {
  return { ...admissionOf(key, more), kept }
}

async function resultOf(admission: ReturnType<Ledger['admit']>): Promise<Result> {
  try {
    const { attachedTo } = await admission
    return attachedTo === undefined ? 'own' : { attachedTo }
  } catch (error) {
    if (error instanceof Problem) return error.reason
    throw error
  }
}

function byText(one: Result, other: Result): number {
  return JSON.stringify(one).localeCompare(JSON.stringify(other))
}
