import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Rating } from '#core/agents/adapter.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import type { Admission } from '#core/ledger/admission-row.ts'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  openLedgerFixture,
} from '#core/ledger/ledger.test-support.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { verifyUsage } from '#core/ledger/verify.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { createUsage } from '#core/reports/usage.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { AtPlatform } from './at-platform.ts'
import { rateCall } from './rate-call.ts'

const serverUrl = process.env.E2E_DATABASE_URL

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  let database: Database
  let ledger: Ledger
  let key: KeyRow
  let owner: Principal

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ;({ database } = fixture)
    ledger = fixture.ledgerOf({ bounds: { endUsersPerDayMax: 1, appsPerDayMax: 1 } })
  })
  afterAll(() => fixture.close())
  beforeEach(async () => {
    key = await fixture.keyOf()
    const expiresAt = new Date(Date.now() + 3_600_000)
    owner = { userId: key.ownerId, role: 'user', via: { kind: 'token', tokenId: v7(), expiresAt } }
  })

  async function admitted(more: Partial<Admission> = {}): Promise<string> {
    const admission = admissionOf(key, more)
    await ledger.admit(admission)
    return admission.callId
  }
  async function settle(callId: string): Promise<void> {
    const { written } = ledger.awaitSettlement(callId)
    ledger.settle({ callId, outcome: 'done', durationMs: 1 })
    await written
  }
  async function settled(more: Partial<Admission> = {}): Promise<string> {
    const callId = await admitted(more)
    await settle(callId)
    return callId
  }
  // No call of this test has an id at its platform, so nothing is passed on.
  const rate = (callId: string, rating: Rating | null) =>
    rateCall({ prisma: database.prisma, atPlatform: {} as AtPlatform }, owner, callId, { rating })

  /** How many were rated up and down in a report, whose numbers must agree with the ledger. */
  async function rated(input: ReportInput = {}): Promise<readonly [up: number, down: number]> {
    const { usage } = createUsage({
      database,
      runtime: systemRuntime,
      limits: ampleLimits(),
      config: { retentionDays: 400 },
      catalog: { knownIds: () => new Set<string>() },
    })
    const { totals } = await usage.report(owner, { granularity: 'hour', ...input })
    expect(await verifyUsage(database.sql, { retentionDays: 400, extent: 'all' })).toEqual([])
    return [totals.ratedUp, totals.ratedDown]
  }

  test('a report counts each call as it was rated last, and none whose rating was taken back', async () => {
    const [first, second] = [await settled(), await settled()]
    await rate(first, 'up')
    await rate(second, 'down')
    expect(await rated()).toEqual([1, 1])
    await rate(first, 'up')
    await rate(second, 'up')
    expect(await rated()).toEqual([2, 0])
    for (const granularity of ['day', 'month']) expect(await rated({ granularity })).toEqual([2, 0])
    await rate(first, null)
    await rate(first, null)
    expect(await rated()).toEqual([1, 0])
  })

  test('a call that is rated while it runs is counted once it has ended', async () => {
    const callId = await admitted()
    await rate(callId, 'up')
    expect(await rated()).toEqual([0, 0])
    await settle(callId)
    expect(await rated()).toEqual([1, 0])
  })

  test('a rated call that was taken for interrupted moves with its rating to the outcome that it had', async () => {
    const callId = await admitted()
    await fixture.ledgerOf().settlePredecessors()
    await rate(callId, 'down')
    expect(await rated({ outcome: ['interrupted'] })).toEqual([0, 1])
    await settle(callId)
    expect(await rated({ outcome: ['done'] })).toEqual([0, 1])
  })

  test('names beyond the bound of their day are rated where they are counted', async () => {
    await settled({ endUser: 'ann', app: 'one' })
    const beyond = await settled({ endUser: 'bob', app: 'two' })
    await rate(beyond, 'down')
    expect(await rated({ endUser: '(other)', app: '(other)' })).toEqual([0, 1])
    expect(await rated({ endUser: 'ann' })).toEqual([0, 0])
    expect(await rated({ endUser: 'bob' })).toEqual([0, 0])
  })

  test('ratings and settlements that come together lose nothing', async () => {
    const calls = await Promise.all(Array.from({ length: 20 }, () => admitted()))
    await Promise.all(calls.flatMap((callId) => [settle(callId), rate(callId, 'up')]))
    await Promise.all(calls.map((callId, n) => rate(callId, n % 2 === 0 ? 'down' : 'up')))
    expect(await rated()).toEqual([10, 10])
  })
})
