import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  admissionOf,
  type KeyRow,
  type LedgerFixture,
  openLedgerFixture,
} from '#core/ledger/ledger.test-support.ts'
import { verifyUsage } from '#core/ledger/verify.ts'
import { daysOfLedger, listFromLedger, renameInLedger } from './erase-ledger.ts'

const NAMES = { pseudonym: 'erased-0123456789abcdef0123', conversationSalt: 'salt' }

describe.each(process.env.E2E_DATABASE_URL ? ['server'] : ['embedded'])('in the ledger, %s,', (kind) => {
  let fixture: LedgerFixture
  let key: KeyRow
  beforeAll(async () => {
    fixture = await openLedgerFixture(kind === 'server' ? process.env.E2E_DATABASE_URL : undefined)
    key = await fixture.keyOf()
  })
  afterAll(() => fixture.close())

  const whom = (endUser = 'zoe') => ({ ownerId: key.ownerId, endUser })
  const verify = () => verifyUsage(fixture.database.sql, { retentionDays: 400, extent: 'all' })

  /** Calls of these conversations, admitted and settled by one process. */
  async function call(endUser: string, ...conversations: readonly string[]): Promise<void> {
    const ledger = fixture.ledgerOf()
    for (const conversation of conversations) {
      const admission = admissionOf(key, { endUser, conversation })
      await ledger.admit(admission)
      ledger.settle({ callId: admission.callId, outcome: 'done', durationMs: 100, firstChunkMs: 5 })
    }
    await ledger.close(30_000)
  }

  async function rename(endUser = 'zoe'): Promise<number> {
    const { sql } = fixture.database
    let renamed = 0
    for (const day of await daysOfLedger(sql)) renamed += await renameInLedger(sql, whom(endUser), day, NAMES)
    return renamed
  }

  /** Of each name the calls of its rollups by span, and those of its longest histogram. */
  async function rollups() {
    const rows = await fixture.database.sql.query<{
      name: string
      span: string
      calls: number
      timed: number
    }>(
      `SELECT end_user AS name, span::text, sum(calls)::int4 AS calls,
         sum((SELECT sum(value::int8) FROM jsonb_each_text(duration)))::int4 AS timed
       FROM rollups WHERE grain = 'end_user' AND subject = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
      [key.id],
    )
    return rows.map(({ name, span, calls, timed }) => [name, span, calls, timed])
  }

  const EVERY_SPAN = ['day', 'hour', 'month']
  const everySpan = (name: string, calls: number) => EVERY_SPAN.map((span) => [name, span, calls, calls])

  test('a pseudonym takes the place of the name, in every sum and also a second time', async () => {
    await call('zoe', 'zoe/1', 'zoe/1', 'zoe/2')
    await call('ben', 'ben/1')
    expect(await verify()).toEqual([])

    // Three calls, and a row of each span.
    expect(await rename()).toBe(6)
    expect(await verify()).toEqual([])
    expect(await rollups()).toEqual([...everySpan('ben', 1), ...everySpan(NAMES.pseudonym, 3)])

    await call('zoe', 'zoe/1')
    expect(await rename()).toBe(4)
    expect(await rename()).toBe(0)
    expect(await verify()).toEqual([])
    expect(await rollups()).toEqual([...everySpan('ben', 1), ...everySpan(NAMES.pseudonym, 4)])

    const calls = await fixture.database.sql.query<{ end_user: string; conversation: string }>(
      'SELECT end_user, conversation FROM calls WHERE owner_id = $1 ORDER BY id',
      [key.ownerId],
    )
    const hashed = calls.map(({ conversation }) => conversation)
    expect(calls.map(({ end_user }) => end_user)).toEqual([
      ...Array<string>(3).fill(NAMES.pseudonym),
      'ben',
      NAMES.pseudonym,
    ])
    expect(hashed[3]).toBe('ben/1')
    // The calls of a conversation stay together.
    expect(new Set(hashed).size).toBe(3)
    expect([hashed[0], hashed[4]]).toEqual([hashed[1], hashed[1]])
    const names = await fixture.database.sql.query<{ name: string }>(
      "SELECT name FROM rollup_names WHERE kind = 'end_user' AND subject = $1 ORDER BY name",
      [key.ownerId],
    )
    expect(names.map(({ name }) => name)).toEqual(['ben', NAMES.pseudonym])
    expect(
      await fixture.database.sql.query(
        "SELECT names FROM rollup_name_counts WHERE kind = 'end_user' AND subject = $1",
        [key.ownerId],
      ),
    ).toEqual([{ names: 2 }])
  })

  test('a call that runs keeps its name, and calls that are settled meanwhile are neither lost nor counted twice', async () => {
    const before = (await rollups()).find(([name]) => name === NAMES.pseudonym)?.[2]
    const running = fixture.ledgerOf()
    const open = admissionOf(key, { endUser: 'zoe', conversation: 'zoe/open' })
    await running.admit(open)
    expect(await rename()).toBe(0)

    let isCalling = true
    const calls = [1, 2].map((n) => call('zoe', ...Array<string>(10).fill(`zoe/${n}`)))
    const calling = Promise.all(calls).finally(() => {
      isCalling = false
    })
    while (isCalling) {
      // The embedded database of tests answers without a turn of the event loop, for which the timers of the calls wait.
      await setImmediate()
      await rename()
      expect(await verify()).toEqual([])
    }
    await calling
    running.settle({ callId: open.callId, outcome: 'done', durationMs: 100 })
    await running.close(30_000)
    await rename()
    expect(await rename()).toBe(0)
    expect(await verify()).toEqual([])
    expect(await rollups()).toEqual([
      ...everySpan('ben', 1),
      ...everySpan(NAMES.pseudonym, Number(before) + 21),
    ])
  })

  test('the conversations that only the ledger knows are listed, but for those of agents that keep none', async () => {
    const { sql } = fixture.database
    await call('eve', 'eve/1', 'eve/1', 'eve/2')
    await sql.query('DELETE FROM listed_conversations WHERE end_user = $1', ['eve'])
    const list = async (none: readonly string[]) => {
      for (const day of await daysOfLedger(sql))
        await listFromLedger(sql, whom('eve'), day, { atPlatform: [], none })
      const rows = await sql.query<{ conversation: string }>(
        'SELECT conversation FROM listed_conversations WHERE end_user = $1 ORDER BY conversation',
        ['eve'],
      )
      return rows.map(({ conversation }) => conversation)
    }
    expect(await list(['dify'])).toEqual([])
    expect(await list([])).toEqual(['eve/1', 'eve/2'])
    expect(await list([])).toEqual(['eve/1', 'eve/2'])
  })
})
