import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { createReplyStore } from '#core/reply-log/store/reply-store.ts'
import { admissionOf, type LedgerFixture, openLedgerFixture, randomHash } from './ledger.test-support.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const LEASE_MS = 60_000

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  const query = <Row>(text: string, values?: readonly unknown[]) =>
    fixture.database.sql.query<Row>(text, values)

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
  })
  afterAll(() => fixture.close())
  beforeEach(() => query('TRUNCATE instances, calls, kept_calls, idempotency_keys'))

  /** A process whose lease ends so many leases from now. */
  async function instanceWith(leases: number): Promise<string> {
    const id = v7()
    await query(
      "INSERT INTO instances (id, started_at, lease_until) VALUES ($1, now(), now() + $2 * interval '1 ms')",
      [id, leases * LEASE_MS],
    )
    return id
  }

  /** Whether this process ends the calls of that one. */
  async function ends(reaper: string, victim: string): Promise<boolean> {
    const key = await fixture.keyOf()
    const kept = { keyHash: randomHash(), fingerprint: randomHash(), stream: true }
    await fixture.ledgerOf({ instanceId: victim }).admit(admissionOf(key, { kept }))
    const bounds = { retentionHours: 24, bytesPerOwnerMax: 2 ** 30, bytesTotalMax: 2 ** 40 }
    const store = createReplyStore({
      database: fixture.database,
      randomBytes: systemRuntime.randomBytes,
      secretKeys: {},
      bounds,
    })
    const replies = await store.endDead({ id: reaper, leaseMs: LEASE_MS })
    const calls = await fixture.ledgerOf({ instanceId: reaper }).settleDead(LEASE_MS)
    expect(calls).toBe(replies)
    return calls === 1
  }

  test('a process is dead when its lease has expired for another half, or when it has left', async () => {
    const reaper = await instanceWith(1)
    expect(await ends(reaper, await instanceWith(0.1))).toBe(false)
    expect(await ends(reaper, await instanceWith(-0.4))).toBe(false)
    expect(await ends(reaper, await instanceWith(-0.6))).toBe(true)
    const left = await instanceWith(1)
    await query('UPDATE instances SET stopped_at = now() WHERE id = $1', [left])
    await query('TRUNCATE calls, kept_calls')
    expect(await ends(reaper, left)).toBe(true)
  })

  test('a process that has no lease itself when its statement runs takes nobody for dead', async () => {
    // As after the database stood still: all leases have expired together.
    expect(await ends(await instanceWith(-0.1), await instanceWith(-5))).toBe(false)
    expect(await ends(v7(), await instanceWith(-5))).toBe(false)
  })
})
