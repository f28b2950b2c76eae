import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Database, Sql } from '#core/database/database.ts'
import type { Admission } from './admission-row.ts'
import { FIND_LOCKED } from './admission-sql.ts'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  LOST,
  openLedgerFixture,
  randomHash,
  refusal,
} from './ledger.test-support.ts'
import type { Ledger } from './ledger.ts'

const serverUrl = process.env.E2E_DATABASE_URL

vi.setConfig({ testTimeout: 60_000 })

describe.runIf(serverUrl)('server', () => {
  let fixture: LedgerFixture
  let keyOf: LedgerFixture['keyOf']
  let usageOf: LedgerFixture['usageOf']
  /** Of two processes. */
  let databases: readonly [Database, Database]
  let ledgers: readonly [Ledger, Ledger]
  /** Another program, which locks rows and forgets its transaction. */
  let stranger: pg.Client
  /** The admissions that were sent on the connections that all owners share. */
  const shared: string[] = []

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ;({ keyOf, usageOf } = fixture)
    databases = [await fixture.openAnother(), await fixture.openAnother()]
    ledgers = [ledgerOf(databases[0]), ledgerOf(databases[1])]
    stranger = new pg.Client({ connectionString: fixture.url })
    await stranger.connect()
  }, 60_000)
  afterAll(async () => {
    await stranger.end()
    await Promise.all(databases.map((each) => each.close()))
    await fixture.close()
  })
  afterEach(() => stranger.query('ROLLBACK'))

  const ledgerOf = ({ lanes }: Database) =>
    fixture.ledgerOf({
      sql: lanes.settlements,
      admissionSql: recorded(lanes.admissions),
      keptAdmissionSql: recorded(lanes.keptAdmissions),
      lockedAdmissionSql: lanes.lockedAdmissions,
    })

  const recorded = (sql: Sql): Sql => ({
    query(text, values = []) {
      if (text !== FIND_LOCKED) shared.push(String(values[0]))
      return sql.query(text, values)
    },
  })

  async function lock(table: 'users' | 'api_keys', key: KeyRow): Promise<void> {
    const id = table === 'users' ? key.ownerId : key.id
    await stranger.query('BEGIN')
    await stranger.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
  }

  /** Resolves when so many statements of gateways wait for a lock. */
  async function untilWaiting(statements: number): Promise<void> {
    const text = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'trunkline' AND wait_event_type = 'Lock'`
    let waiting: number | null
    do ({ rowCount: waiting } = await stranger.query(text))
    while (waiting !== statements)
  }

  const plain = (key: KeyRow) => admissionOf(key)
  const kept = (key: KeyRow) => admissionOf(key, { kept: claim() })
  const claim = () => ({ keyHash: randomHash(), fingerprint: randomHash(), stream: false })

  /** The results of ten calls one after the other with each of these keys, at the same time, in both processes. */
  async function callAll(keys: readonly KeyRow[], of: (key: KeyRow) => Admission): Promise<Set<string>> {
    const results = new Set<string>()
    const callInTurn = async (ledger: Ledger, key: KeyRow) => {
      for (let nth = 0; nth < 10; nth += 1) results.add(await refusal(ledger.admit(of(key))))
    }
    await Promise.all(ledgers.flatMap((ledger) => keys.map((key) => callInTurn(ledger, key))))
    return results
  }

  /** Calls with this key, of which it is known whether they were answered. */
  function callOnce(key: KeyRow, of: (key: KeyRow) => Admission, by: readonly Ledger[] = ledgers) {
    const call = {
      isAnswered: false,
      results: Promise.all(by.map((ledger) => refusal(ledger.admit(of(key))))),
    }
    call.results.finally(() => {
      call.isAnswered = true
    })
    return call
  }

  describe('before the deadline of an admission', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    })
    afterEach(async () => {
      // A batch of ends that waits for such a timer would never be sent, nor what joins it in later tests.
      await vi.runOnlyPendingTimersAsync()
      vi.useRealTimers()
    })

    describe.each([
      { table: 'users', calls: 'calls', of: plain },
      { table: 'api_keys', calls: 'calls', of: plain },
      { table: 'users', calls: 'kept calls', of: kept },
      { table: 'api_keys', calls: 'kept calls', of: kept },
    ] as const)('$calls while a stranger holds a row of $table', ({ table, of }) => {
      test('do not wait for those of its owner, which wait until their deadline and are counted once at most', async () => {
        const [locked, ...others] = [await keyOf(), await keyOf(), await keyOf()]
        await lock(table, locked)
        // One at a time, so that each of them could hold up the others anew.
        for (const calls of [10, 20]) {
          const call = callOnce(locked, of)
          expect(await callAll([...others, ...others], of)).toEqual(new Set(['admitted']))
          for (const key of others) expect(await usageOf(key)).toEqual(allOf(calls * 4))
          expect(call.isAnswered).toBe(false)
          await vi.advanceTimersByTimeAsync(2_000)
          expect(await call.results).toEqual(['unavailable', 'unavailable'])
        }
        // A process tries it among the others once.
        expect(shared.filter((each) => each.includes(locked.hash))).toHaveLength(2)
        expect(await usageOf(locked)).toEqual(allOf(0))

        await stranger.query('COMMIT')
        expect(await callOnce(locked, of).results).toEqual(['admitted', 'admitted'])
        // A statement that was waiting when the row became free may have counted its call too late, and such a call is settled.
        await vi.waitFor(async () => {
          const rows = await fixture.database.prisma.call.findMany({ where: { keyId: locked.id } })
          expect(rows.filter(({ outcome }) => outcome !== 'rejected')).toHaveLength(2)
          expect(await usageOf(locked)).toEqual(allOf(rows.length))
        }, 20_000)
      })

      test('are admitted, those of its owner up to the quota, when it is free in time', async () => {
        const ownerId = await fixture.userOf({ maxApiCalls: 7 })
        const keys = [await keyOf(ownerId), await keyOf(ownerId), await keyOf(ownerId)] as const
        await lock(table, keys[0])
        const calls = ledgers.flatMap((ledger) =>
          [...keys, ...keys, ...keys].map((key) => refusal(ledger.admit(of(key)))),
        )
        await untilWaiting(2)
        await stranger.query('COMMIT')
        const results = Object.groupBy(await Promise.all(calls), (result) => result)
        expect(results).toEqual({
          admitted: Array(7).fill('admitted'),
          quota_exceeded: Array(11).fill('quota_exceeded'),
        })
        const usages = await Promise.all(keys.map(usageOf))
        for (const { user, key, rows } of usages) expect([user, key]).toEqual([7, rows])
        expect(usages.reduce((sum, { rows }) => sum + rows, 0)).toBe(7)
      })
    })

    test('while the row of a key is locked, other keys of its owner are used', async () => {
      const ownerId = await fixture.userOf()
      const [locked, free] = [await keyOf(ownerId), await keyOf(ownerId)]
      await lock('api_keys', locked)
      const call = callOnce(locked, plain)
      expect(await callAll([free, free], plain)).toEqual(new Set(['admitted']))
      expect(call.isAnswered).toBe(false)
      await stranger.query('COMMIT')
      expect(await call.results).toEqual(['admitted', 'admitted'])
    })

    test('a stranger that holds the claim of an Idempotency-Key holds up calls with that API key alone', async () => {
      const [claimer, ...others] = [await keyOf(), await keyOf(), await keyOf()]
      const held = claim()
      await stranger.query('BEGIN')
      await stranger.query(
        `INSERT INTO idempotency_keys (key_id, hash, fingerprint, call_id)
         VALUES ($1, decode($2, 'hex'), decode($3, 'hex'), gen_random_uuid())`,
        [claimer.id, held.keyHash, held.fingerprint],
      )
      const call = callOnce(claimer, (key) => admissionOf(key, { kept: held }), [ledgers[0]])
      expect(await callAll([...others, ...others], kept)).toEqual(new Set(['admitted']))
      expect(call.isAnswered).toBe(false)
      await stranger.query('ROLLBACK')
      expect(await call.results).toEqual(['admitted'])
    })
  })

  test('a call that was counted although its answer was lost is settled if it then waits for a locked row in vain', async () => {
    const key = await keyOf()
    const admission = plain(key)
    const { admissions, settlements: sql, lockedAdmissions: lockedAdmissionSql } = databases[0].lanes
    let isFirst = true
    const admissionSql: Sql = {
      async query<Row>(text: string, values?: readonly unknown[]) {
        const rows = await admissions.query<Row>(text, values)
        if (!isFirst) return rows
        isFirst = false
        await lock('users', key)
        throw LOST
      },
    }
    const ledger = fixture.ledgerOf({ sql, admissionSql, lockedAdmissionSql })
    expect(await refusal(ledger.admit(admission))).toBe('unavailable')
    await stranger.query('COMMIT')
    await vi.waitFor(async () => {
      const row = await fixture.database.prisma.call.findUnique({ where: { id: admission.callId } })
      expect(row).toMatchObject({ outcome: 'rejected', reason: 'unavailable' })
    }, 20_000)
    expect(await usageOf(key)).toEqual(allOf(1))
    await ledger.close(5_000)
  })
})

/** What is counted after so many calls. */
function allOf(calls: number) {
  return { user: calls, key: calls, day: calls, month: calls, rows: calls }
}
