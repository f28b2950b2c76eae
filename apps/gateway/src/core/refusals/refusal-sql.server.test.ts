import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { KEPT_A_DAY, KEPT_AN_HOUR, RECORD } from './refusal-sql.ts'
import { createRefusalSweep } from './refusal-sweep.ts'

let database: Database

beforeAll(async () => {
  database = await openScratchDatabase(process.env.E2E_DATABASE_URL)
})
afterAll(() => database.close())
afterEach(() => query('TRUNCATE refusals, refusal_counts, refusal_allowances'))

const query = <Row>(text: string, values?: readonly unknown[]) => database.sql.query<Row>(text, values)
const OWNER = v7()
const keys = Array.from({ length: 3 }, () => v7())
const NOON = '2026-11-20T12:00:00.000Z'

function single({ key = keys[0] ?? '', reason = 'rate_limited', at = NOON } = {}) {
  return {
    id: v7(),
    request_id: 'r',
    at,
    credential: `key:${key}`,
    key_id: key,
    owner_id: OWNER,
    key_prefix: 'tl_000000000',
    face: 'rest',
    route: '/api/v1/chat',
    agent: '',
    reason,
    status: 429,
    limit: 'chat',
    field: null,
  }
}

function count({ key = keys[0] ?? '', minute = NOON, amount = 1 } = {}) {
  return {
    minute,
    key_id: key,
    owner_id: OWNER,
    agent: '',
    reason: 'rate_limited',
    limit: 'chat',
    count: amount,
  }
}

const write = (counts: readonly object[], singles: readonly object[]) =>
  query(RECORD, [JSON.stringify(counts), JSON.stringify(singles)])
const kept = async () => (await query<{ n: number }>('SELECT count(*)::int AS n FROM refusals'))[0]?.n
const many = <Item>(length: number, make: (n: number) => Item) => Array.from({ length }, (_, n) => make(n))

test('counts add up over statements, and single ones have all that is known', async () => {
  await write(
    [count(), count({ key: keys[1] ?? '' })],
    [
      {
        ...single(),
        field: 'body.query',
        agent: 'dify',
        limit_points: 60,
        limit_window_seconds: 60,
        limit_of: 'key',
      },
    ],
  )
  await write([count({ amount: 41 })], [])
  expect(await query('SELECT key_id, count::int FROM refusal_counts ORDER BY count DESC')).toEqual([
    { key_id: keys[0], count: 42 },
    { key_id: keys[1], count: 1 },
  ])
  expect(await query('SELECT * FROM refusals')).toEqual([
    {
      id: expect.any(String),
      request_id: 'r',
      at: new Date(NOON),
      key_id: keys[0],
      owner_id: OWNER,
      key_prefix: 'tl_000000000',
      face: 'rest',
      route: '/api/v1/chat',
      agent: 'dify',
      reason: 'rate_limited',
      status: 429,
      limit: 'chat',
      field: 'body.query',
      limit_points: 60,
      limit_window_seconds: 60,
      limit_of: 'key',
    },
  ])
})

describe('at most 20 single refusals of a reason, a credential and an hour are kept', () => {
  test('within one statement, the first ones', async () => {
    const singles = many(KEPT_AN_HOUR + 10, (n) =>
      single({ at: new Date(Date.parse(NOON) + n).toISOString() }),
    )
    await write([], singles.toReversed())
    const rows = await query<{ id: string }>('SELECT id FROM refusals ORDER BY at')
    expect(rows.map(({ id }) => id)).toEqual(singles.slice(0, KEPT_AN_HOUR).map(({ id }) => id))
  })

  test('over several statements, of which the last gets what is left', async () => {
    for (let n = 0; n < 5; n += 1)
      await write(
        [],
        many(7, () => single()),
      )
    expect(await kept()).toBe(KEPT_AN_HOUR)
  })

  test('over processes that write at the same time, each in an order of its own', async () => {
    await Promise.all(
      many(30, (n) => {
        const ordered = n % 2 === 0 ? keys : keys.toReversed()
        const counts = ordered.map((key) => count({ key }))
        return write(
          counts,
          ordered.flatMap((key) => many(3, () => single({ key }))),
        )
      }),
    )
    expect(await query('SELECT key_id, count(*)::int AS n FROM refusals GROUP BY 1 ORDER BY 1')).toEqual(
      keys.toSorted().map((key_id) => ({ key_id, n: KEPT_AN_HOUR })),
    )
    expect(await query('SELECT DISTINCT count::int FROM refusal_counts')).toEqual([{ count: 30 }])
  })

  test('beside those of other reasons, credentials and hours', async () => {
    const full = many(KEPT_AN_HOUR, () => single())
    await write([], full)
    await write(
      [],
      [
        single({ reason: 'invalid_request' }),
        single({ key: keys[1] ?? '' }),
        single({ at: '2026-11-20T13:00:00Z' }),
      ],
    )
    await write([], [single()])
    expect(await kept()).toBe(KEPT_AN_HOUR + 3)
  })

  test('and a flood writes no allowance again that is used up', async () => {
    await write(
      [],
      many(KEPT_AN_HOUR, () => single()),
    )
    const versions = () => query('SELECT ctid::text, kept FROM refusal_allowances ORDER BY reason')
    const before = await versions()
    for (let n = 0; n < 10; n += 1)
      await write(
        [],
        many(KEPT_AN_HOUR, () => single()),
      )
    expect(await versions()).toEqual(before)
  })
})

describe('at most 1,000 single refusals of a credential and a day are kept', () => {
  const ofDay = (n: number) => {
    const hour = String(n % 24).padStart(2, '0')
    return single({ reason: `reason_${n % 7}`, at: `2026-11-20T${hour}:00:00.000Z` })
  }

  test('over processes that write at the same time', async () => {
    const batches = many(14, (batch) => many(240, (n) => ofDay(batch * 240 + n)))
    await Promise.all(batches.map((singles) => write([], singles)))
    expect(await kept()).toBe(KEPT_A_DAY)
    await write([], [single({ at: '2026-11-21T00:00:00Z' })])
    expect(await kept()).toBe(KEPT_A_DAY + 1)
  })

  test('within one statement', async () => {
    await write([], many(24 * 7 * KEPT_AN_HOUR, ofDay))
    expect(await kept()).toBe(KEPT_A_DAY)
  })
})

test('the sweep deletes counts after 30 days, single ones after a day and allowances after two, and nothing younger', async () => {
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
  const days = [1, 29, 31]
  await write(
    days.map((day) => count({ minute: ago(24 * day) })),
    [23, 25].map((hours) => single({ at: ago(hours) })),
  )
  // The allowances of those above begin with their hour and day, so how old they are depends on the time of day.
  await query('DELETE FROM refusal_allowances')
  await query(`INSERT INTO refusal_allowances
    SELECT 'key:k', '', now() - make_interval(hours => age), 1 FROM unnest('{47,49}'::int[]) AS age`)
  const { sweep } = createRefusalSweep(database)
  expect(await sweep()).toBe(3)
  expect(await sweep()).toBe(0)
  expect(await query('SELECT FROM refusal_counts')).toHaveLength(2)
  expect(await kept()).toBe(1)
  expect(await query('SELECT FROM refusal_allowances')).toHaveLength(1)
})
