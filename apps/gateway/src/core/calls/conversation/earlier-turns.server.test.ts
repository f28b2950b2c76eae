import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  openLedgerFixture,
} from '#core/ledger/ledger.test-support.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { Settlement } from '#core/ledger/settlement/settlement-row.ts'
import { earlierTurns } from './earlier-turns.ts'

const serverUrl = process.env.E2E_DATABASE_URL

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  let ledger: Ledger

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ledger = fixture.ledgerOf()
  })
  afterAll(() => fixture.close())

  const NAME = { endUser: 'ann', agent: 'dify', app: '', conversation: 'chat-1' }
  const LAST = 'ffffffff-ffff-7fff-8fff-ffffffffffff'
  const turnsOf = (key: KeyRow, more: object = {}) =>
    earlierTurns(fixture.database.sql, { ...NAME, ownerId: key.ownerId, ...more }, LAST)

  async function call(key: KeyRow, settled?: Omit<Settlement, 'callId' | 'durationMs'>): Promise<void> {
    const admission = admissionOf(key, { ...NAME, kind: 'chat' })
    const { callId } = admission
    await ledger.admit(admission)
    if (settled === undefined) return
    const { written } = ledger.awaitSettlement(callId)
    ledger.settle({ ...settled, callId, durationMs: 1 })
    await written
  }

  test.each([
    ['a call whose turn the platform may have', { outcome: 'upstream_error', hasTurn: true }, 'some'],
    ['a call whose turn it has not taken', { outcome: 'upstream_error', hasTurn: false }, 'none'],
    ['a success of a process that did not tell', { outcome: 'done' }, 'some'],
    ['a call whose process died', { outcome: 'interrupted' }, 'none'],
    ['a call that still runs', undefined, 'running'],
  ] as const)('after %s', async (_what, settled, expected) => {
    const key = await fixture.keyOf()
    expect(await turnsOf(key)).toBe('none')
    await call(key, settled)
    expect(await turnsOf(key)).toBe(expected)
    await call(key)
    expect(await turnsOf(key)).toBe(expected === 'none' ? 'running' : expected)
    const others = [{ endUser: 'bob' }, { agent: 'coze' }, { app: 'other' }, { conversation: 'chat-2' }]
    for (const other of others) expect(await turnsOf(key, other)).toBe('none')
  })

  test('calls before the conversation was deleted, and after the one that asks, do not count', async () => {
    const key = await fixture.keyOf()
    await call(key, { outcome: 'done', hasTurn: true })
    const before = await fixture.database.sql.query<{ id: string }>('SELECT min(id::text) AS id FROM calls')
    const first = { ...NAME, ownerId: key.ownerId }
    expect(await earlierTurns(fixture.database.sql, first, before[0]?.id ?? '')).toBe('none')
    await fixture.database.sql.query(
      `INSERT INTO conversation_generations (identity, generation, deleted_at)
      SELECT sha256(convert_to(json_build_array($1::uuid, 'ann', 'dify', '', 'chat-1')::text, 'UTF8')), 1, now()`,
      [key.ownerId],
    )
    expect(await turnsOf(key)).toBe('none')
  })
})
