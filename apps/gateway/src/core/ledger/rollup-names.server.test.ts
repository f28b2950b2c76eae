import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { Group } from '#core/reports/report-rows.ts'
import { createUsage } from '#core/reports/usage.ts'
import type { Principal } from '#core/requests/principal.ts'
import { liveReaper } from './ledger.test-support.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { verifyUsage } from './verify.ts'

const deps = {
  runtime: systemRuntime,
  limits: ampleLimits(),
  config: { retentionDays: 400 },
  catalog: { knownIds: () => new Set<string>() },
}

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const admin: Principal = {
  userId: v7(),
  role: 'admin',
  via: { kind: 'token', tokenId: v7(), expiresAt: new Date(Date.now() + 3_600_000) },
}

describe(kind, () => {
  let database: Database
  let ownerId: string
  const keyId = v7()
  const ownId = v7()

  beforeAll(async () => {
    database = await openScratchDatabase(serverUrl)
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    ownerId = v7()
    await database.sql.query('TRUNCATE calls, rollups, rollup_names, rollup_name_counts')
  })

  /** A process that allows an owner three end users a day and an agent two apps. */
  function processOf(instanceId = ownId): Ledger {
    return createLedger({
      sql: database.sql,
      runtime: systemRuntime,
      instanceId,
      observer: {
        batch: () => undefined,
        settleFailed(error) {
          throw error
        },
      },
      bounds: { endUsersPerDayMax: 3, appsPerDayMax: 2 },
    })
  }

  interface Called {
    readonly endUser?: string
    readonly app?: string
    readonly agent?: string
    readonly daysAgo?: number
  }

  /** The row of an open call. */
  async function open({ endUser = '', app = '', agent = 'fastgpt', daysAgo = 0 }: Called): Promise<string> {
    const callId = v7()
    await database.sql.query(
      `INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, instance, admitted_at)
       VALUES ($1, '', $2, $3, $4, 'chat', 'rest', $5, $6, $7, now() - $8 * interval '1 day')`,
      [callId, keyId, ownerId, endUser, agent, app, ownId, daysAgo],
    )
    return callId
  }

  async function settle(ledger: Ledger, callIds: readonly string[]): Promise<void> {
    for (const callId of callIds) ledger.settle({ callId, outcome: 'done', durationMs: 5 })
    await ledger.close(30_000)
  }

  /** One process after the other settles each of these calls. */
  async function play(calls: readonly Called[]): Promise<void> {
    for (const call of calls) await settle(processOf(), [await open(call)])
  }

  async function reported(group: Group): Promise<Record<string, number>> {
    const dayMs = 86_400_000
    // Its keys have no rows of their own, from which reads in slices would start.
    const read = { ...database, kind: 'server' } as const
    const { usage } = createUsage({ ...deps, database: read })
    const report = await usage.report(admin, {
      from: new Date(Date.now() - 3 * dayMs),
      to: new Date(),
      timezone: 'UTC',
      granularity: 'month',
      groupBy: [group],
    })
    return Object.fromEntries(report.groups.map((one) => [one.group[group], one.totals.calls]))
  }

  async function ledgerTexts(column: 'end_user' | 'app'): Promise<string[]> {
    const rows = await database.sql.query<{ text: string }>(`SELECT ${column} AS text FROM calls ORDER BY 1`)
    return rows.map(({ text }) => text)
  }

  const drifts = () => verifyUsage(database.sql, { retentionDays: 400, extent: 'all' })

  test('end users after the bound of an owner and day are summed under (other); the ledger keeps them', async () => {
    await play(['a', 'b', 'c', 'd', 'e', 'a', 'd'].map((endUser) => ({ endUser })))
    expect(await reported('end_user')).toEqual({ a: 2, b: 1, c: 1, '(other)': 3 })
    expect(await ledgerTexts('end_user')).toEqual(['a', 'a', 'b', 'c', 'd', 'd', 'e'])
    expect(await drifts()).toEqual([])
  })

  test('calls without an end user or an app do not count towards the bounds', async () => {
    await play([{}, {}, ...['a', 'b', 'c'].map((endUser) => ({ endUser }))])
    expect(await reported('end_user')).toEqual({ '': 2, a: 1, b: 1, c: 1 })
    expect(await reported('app')).toEqual({ '': 5 })
  })

  test('every owner and every day has its own bound', async () => {
    await play(['a', 'b', 'c', 'd'].map((endUser) => ({ endUser })))
    await play(['d', 'e'].map((endUser) => ({ endUser, daysAgo: 1 })))
    ownerId = v7()
    await play(['f', 'g'].map((endUser) => ({ endUser })))
    expect(await reported('end_user')).toEqual({ a: 1, b: 1, c: 1, '(other)': 1, d: 1, e: 1, f: 1, g: 1 })
  })

  test('apps after the bound of an agent and day are summed under (other), for all callers', async () => {
    await play(['a', 'b', 'c'].map((app) => ({ app })))
    ownerId = v7()
    await play([{ app: 'd' }, { app: 'b' }, { app: 'z', agent: 'coze' }])
    expect(await reported('app')).toEqual({ a: 1, b: 2, z: 1, '(other)': 2 })
    expect(await ledgerTexts('app')).toEqual(['a', 'b', 'b', 'c', 'd', 'z'])
    expect(await drifts()).toEqual([])
  })

  test('a batch of new names fills the remaining places', async () => {
    const calls = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((endUser) => open({ endUser })))
    await settle(processOf(), calls)
    expect(await reported('end_user')).toEqual({ a: 1, b: 1, c: 1, '(other)': 2 })
    expect(await drifts()).toEqual([])
  })

  test('a late settlement subtracts its call where it was added', async () => {
    await play(['a', 'b', 'c'].map((endUser) => ({ endUser })))
    const late = await Promise.all([open({ endUser: 'a' }), open({ endUser: 'd' })])
    const reaper = await liveReaper(database.sql)
    expect(await processOf(reaper.id).settleDead(reaper.leaseMs)).toBe(2)
    expect(await reported('end_user')).toEqual({ a: 2, b: 1, c: 1, '(other)': 1 })
    await settle(processOf(), late)
    expect(await reported('end_user')).toEqual({ a: 2, b: 1, c: 1, '(other)': 1 })
    const interrupted = await database.sql.query<{ calls: number }>(
      "SELECT calls FROM rollups WHERE outcome = 'interrupted' AND calls <> 0",
    )
    expect(interrupted).toEqual([])
    expect(await drifts()).toEqual([])
  })

  test('concurrent processes exceed the bound by at most the size of their batches, and all rollups count the same', async () => {
    const endUsers = Array.from({ length: 20 }, (_, n) => `end-user-${n}`)
    const shares = await Promise.all(
      [0, 1, 2].map(() => Promise.all(endUsers.map((endUser) => open({ endUser })))),
    )
    await Promise.all(shares.map((calls) => settle(processOf(), calls)))
    const [{ names, rows } = { names: 0, rows: 0 }] = await database.sql.query<{
      names: number
      rows: number
    }>(
      `SELECT (SELECT sum(names) FROM rollup_name_counts)::int AS names, (SELECT count(*) FROM rollup_names)::int AS rows`,
    )
    expect(names).toBe(rows)
    expect(rows).toBeGreaterThanOrEqual(3)
    expect(rows).toBeLessThanOrEqual(9)
    expect(await drifts()).toEqual([])
    await play([{ endUser: 'new' }])
    expect(await reported('end_user')).not.toHaveProperty('new')
  })

  test('names are deleted when no call of their day can be open any more', async () => {
    await play([
      { endUser: 'a', app: 'x', daysAgo: 8 },
      { endUser: 'b', app: 'y' },
    ])
    const { upkeep } = createUsage({ ...deps, database })
    expect(await upkeep.pruneNames()).toBe(4)
    expect(await upkeep.pruneNames()).toBe(0)
    const rows = await database.sql.query<{ name: string }>('SELECT name FROM rollup_names ORDER BY name')
    expect(rows.map(({ name }) => name)).toEqual(['b', 'y'])
  })
})
