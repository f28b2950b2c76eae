import { setImmediate } from 'node:timers/promises'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sql } from '#core/database/database.ts'
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
    for (const day of await daysOfLedger(sql, whom(endUser)))
      renamed += await renameInLedger(sql, whom(endUser), day, NAMES)
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

  test('only the days are visited on which the end user has calls, however long the history of its owner is', async () => {
    const { sql } = fixture.database
    const own = await fixture.keyOf()
    // A key whose record was removed is still one of the owner's.
    const removed = v7()
    await sql.query('INSERT INTO removed_api_keys (id, owner_id) VALUES ($1, $2)', [removed, own.ownerId])
    const roll = (grain: string, subject: string, daysAgo: number, endUser = '') =>
      sql.query(
        `INSERT INTO rollups (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome, calls, token_calls,
           prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
         SELECT 'day', $1::rollup_grain, $2, date_trunc('day', now(), 'UTC') - day * interval '1 day', $3, 'chat', 'dify', '', '', 'done',
           1, 0, 0, 0, 0, '{}', '{}'
         FROM generate_series($4::int4, $4::int4 + CASE WHEN $3 = '' THEN 799 ELSE 0 END) AS day`,
        [grain, subject, endUser, daysAgo],
      )
    await roll('owner', own.ownerId, 0)
    await roll('end_user', own.id, 3, 'zoe')
    await roll('end_user', removed, 700, 'zoe')
    // Calls of this day were counted together, of which none is left.
    await roll('end_user', own.id, 500, '(other)')
    let statements = 0
    const counted: Sql = {
      query(text, values) {
        statements += 1
        return sql.query(text, values)
      },
    }
    const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
    const visited = async (endUser: string) => {
      const days = await daysOfLedger(counted, { ownerId: own.ownerId, endUser })
      return days.map((day) => day.slice(0, 10))
    }
    expect(await visited('zoe')).toEqual([dayOf(3), dayOf(700)])
    expect([await visited('a stranger'), statements]).toEqual([[], 4])
    const id = `${(Date.now() - 500 * 86_400_000).toString(16).padStart(12, '0')}`
    await sql.query(
      `INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, instance, outcome, admitted_at)
       VALUES ($1, '', $2, $3, 'ben', 'chat', 'rest', 'dify', $2, 'done', now() - interval '500 days')`,
      [`${id.slice(0, 8)}-${id.slice(8)}-7000-8000-000000000000`, own.id, own.ownerId],
    )
    expect(await visited('a stranger')).toEqual([dayOf(500)])
  })

  test('a call that has waited beyond midnight for its admission is of the day of its rollups', async () => {
    const { sql } = fixture.database
    await call('max', 'max/1')
    await sql.query(
      `UPDATE calls SET admitted_at = day + interval '1 minute',
         id = (lpad(to_hex((extract(epoch FROM day - interval '1 minute') * 1000)::int8), 12, '0') || substr(replace(id::text, '-', ''), 13))::uuid
       FROM (SELECT bucket AS day FROM rollups WHERE span = 'day' AND end_user = 'max') AS rolled
       WHERE end_user = 'max'`,
    )
    expect(await rename('max')).toBe(4)
  })

  test('the conversations that only the ledger knows are listed, but for those of agents that keep none', async () => {
    const { sql } = fixture.database
    await call('eve', 'eve/1', 'eve/1', 'eve/2')
    await sql.query('DELETE FROM listed_conversations WHERE end_user = $1', ['eve'])
    const list = async (none: readonly string[]) => {
      for (const day of await daysOfLedger(sql, whom('eve')))
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
