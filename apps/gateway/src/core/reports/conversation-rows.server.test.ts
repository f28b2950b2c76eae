import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { rowsOf } from '#core/database/table-rows.test-support.ts'
import type { Admission } from '#core/ledger/admission-row.ts'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  openLedgerFixture,
} from '#core/ledger/ledger.test-support.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { ReportInput } from './report-query.ts'
import { createUsage, type Usage } from './usage.ts'

const serverUrl = process.env.E2E_DATABASE_URL

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  let ledger: Ledger
  let usage: Usage

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ledger = fixture.ledgerOf()
    usage = createUsage({
      database: fixture.database,
      runtime: systemRuntime,
      limits: ampleLimits(),
      config: { retentionDays: 400 },
      catalog: { knownIds: () => new Set<string>() },
    }).usage
  })
  afterAll(() => fixture.close())

  async function call(
    key: KeyRow,
    more: Partial<Admission>,
    outcome: 'done' | 'timeout' = 'done',
  ): Promise<void> {
    const admission = admissionOf(key, more)
    await ledger.admit(admission)
    const { written } = ledger.awaitSettlement(admission.callId)
    ledger.settle({ callId: admission.callId, outcome, durationMs: 100, totalTokens: 7, isListed: true })
    await written
  }

  function tokenOf({ ownerId }: KeyRow): Principal {
    const expiresAt = new Date(Date.now() + 3_600_000)
    return { userId: ownerId, role: 'user', via: { kind: 'token', tokenId: v7(), expiresAt } }
  }

  /** The calls, failures and tokens of each conversation by its client's id. */
  async function reported(caller: Principal, input: ReportInput = {}) {
    const report = await usage.report(caller, { agent: 'dify', groupBy: ['conversation'], ...input })
    const { sql } = fixture.database
    const owned = { owner_id: caller.userId }
    const listed = await rowsOf<{ id: string; conversation: string }>(sql, 'listed_conversations', owned)
    const names = new Map(listed.map(({ id, conversation }) => [id, conversation]))
    expect(report.totals.calls).toBe(report.groups.reduce((sum, { totals }) => sum + totals.calls, 0))
    return report.groups.map(({ group, totals, points }) => {
      expect(points.reduce((sum, { calls }) => sum + calls, 0)).toBe(totals.calls)
      return [names.get(group.conversation ?? ''), totals.calls, totals.failedCalls, totals.totalTokens]
    })
  }

  test('each conversation of an agent has its own calls, and no call of another agent or owner is in it', async () => {
    const [key, other] = [await fixture.keyOf(), await fixture.keyOf()]
    for (const chat of ['one', 'two', 'two', 'two']) await call(key, { conversation: chat })
    await call(key, { conversation: 'one' }, 'timeout')
    await call(key, { conversation: 'one', agent: 'coze' })
    await call(other, { conversation: 'one' })
    expect(await reported(tokenOf(key))).toEqual([
      ['two', 3, 0, 21],
      ['one', 2, 1, 14],
    ])
    expect(await reported(tokenOf(key), { outcome: ['failed'] })).toEqual([['one', 1, 1, 7]])
    expect(await reported(tokenOf(key), { granularity: 'hour' })).toHaveLength(2)
    expect(await reported(tokenOf(key), { to: new Date(Date.now() - 86_400_000) })).toEqual([])
    const { totals } = await usage.report(tokenOf(key), { agent: 'dify', groupBy: ['conversation'] })
    expect(totals.durationMs?.p50).toBeGreaterThan(90)
  })

  test('the calls of another key of the owner are in its own report alone', async () => {
    const key = await fixture.keyOf()
    const second = await fixture.keyOf(key.ownerId)
    await call(key, { conversation: 'shared' })
    await call(second, { conversation: 'shared' })
    expect(await reported(tokenOf(key), { keyId: second.id })).toEqual([['shared', 1, 0, 7]])
    expect(await reported(tokenOf(key))).toEqual([['shared', 2, 0, 14]])
  })

  test('it names what is missing, and what cannot stand beside it', async () => {
    const caller = tokenOf(await fixture.keyOf())
    const asked = (input: ReportInput) => usage.report(caller, input)
    for (let time = 0; time < 2; time += 1) {
      await expect(asked({ groupBy: ['conversation'] })).rejects.toMatchObject({ field: ['agent'] })
      await expect(asked({ groupBy: ['conversation', 'model'], agent: 'dify' })).rejects.toMatchObject({
        field: ['groupBy'],
      })
    }
  })
})
