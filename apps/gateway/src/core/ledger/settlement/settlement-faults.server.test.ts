import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database, Sql } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { admissionOf, type LedgerFixture, openLedgerFixture } from '#core/ledger/ledger.test-support.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { verifyUsage } from '#core/ledger/verify.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const serverUrl = process.env.E2E_DATABASE_URL

// Faults of a real server, while a call ends: what each does is described by its SQLSTATE alone.
describe.skipIf(serverUrl === undefined || serverUrl === '')('the ends of calls', () => {
  let fixture: LedgerFixture
  let admin: pg.Client

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    admin = new pg.Client({ connectionString: fixture.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin?.end()
    await fixture?.close()
  })

  const rowOf = (id: string) => fixture.database.prisma.call.findUniqueOrThrow({ where: { id } })
  const nameOfDatabase = () => new URL(fixture.url ?? '').pathname.slice(1)

  /** Statements whose failures are counted, by SQLSTATE. */
  function noted(sql: Sql, failures: Map<string, number>): Sql {
    return {
      query: <Row>(text: string, values?: readonly unknown[]) =>
        sql.query<Row>(text, values).catch((error: unknown) => {
          const { code } = error as { code: string }
          failures.set(code, (failures.get(code) ?? 0) + 1)
          throw error
        }),
    }
  }

  async function running(ledger: Ledger, count: number): Promise<string[]> {
    const key = await fixture.keyOf()
    const admissions = Array.from({ length: count }, () => admissionOf(key))
    await Promise.all(admissions.map((each) => ledger.admit(each)))
    return admissions.map(({ callId }) => callId)
  }

  function settleAll(ledger: Ledger, calls: readonly string[]): void {
    for (const callId of calls) ledger.settle({ callId, outcome: 'done', totalTokens: 18, durationMs: 1 })
  }

  async function expectAllWritten(ledger: Ledger, calls: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(ledger.backlog().waiting).toBe(0), 30_000)
    const rows = await Promise.all(calls.map(rowOf))
    expect(rows.map(({ outcome, totalTokens }) => [outcome, totalTokens])).toEqual(
      calls.map(() => ['done', 18]),
    )
    expect(await verifyUsage(fixture.database.sql, { retentionDays: 400, extent: 'all' })).toEqual([])
  }

  async function openAs(url: string | undefined): Promise<Database> {
    const database = await openDatabase({ kind: 'server', url: url ?? '' })
    onTestFinished(() => database.close())
    return database
  }

  test('are written when a database that was read only takes writes again', async () => {
    const failures = new Map<string, number>()
    const { lanes } = await openAs(fixture.url)
    const ledger = fixture.ledgerOf({
      sql: noted(lanes.settlements, failures),
      admissionSql: lanes.admissions,
    })
    const calls = await running(ledger, 12)
    await admin.query(`ALTER DATABASE "${nameOfDatabase()}" SET default_transaction_read_only = on`)
    await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    settleAll(ledger, calls)
    // The first failure may be that of the connection.
    await vi.waitFor(() => expect(failures.get('25006')).toBeGreaterThan(1), 20_000)
    await admin.query(`ALTER DATABASE "${nameOfDatabase()}" RESET default_transaction_read_only`)
    await expectAllWritten(ledger, calls)
  })

  test('are written when a right that was missing is granted', async () => {
    const role = `trunkline_${v7().replaceAll('-', '')}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'an-obvious-fake'`)
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    onTestFinished(async () => {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    })
    const url = new URL(fixture.url ?? '')
    url.username = role
    url.password = 'an-obvious-fake'
    const failures = new Map<string, number>()
    const { lanes } = await openAs(url.href)
    const ledger = fixture.ledgerOf({
      sql: noted(lanes.settlements, failures),
      admissionSql: lanes.admissions,
    })
    const calls = await running(ledger, 6)
    await admin.query(`REVOKE UPDATE ON rollups FROM ${role}`)
    settleAll(ledger, calls)
    await vi.waitFor(() => expect(failures.get('42501')).toBeGreaterThan(1), 20_000)
    await admin.query(`GRANT UPDATE ON rollups TO ${role}`)
    await expectAllWritten(ledger, calls)
  })

  test('are written after a deadlock with another program', async () => {
    const failures = new Map<string, number>()
    const { lanes } = await openAs(fixture.url)
    const ledger = fixture.ledgerOf({
      sql: noted(lanes.settlements, failures),
      admissionSql: lanes.admissions,
    })
    const calls = (await running(ledger, 4)).sort()
    const [first, last] = [calls[0], calls.at(-1)]
    const stranger = new pg.Client({ connectionString: fixture.url })
    await stranger.connect()
    // So that the server ends the statement of the gateway.
    await stranger.query("SET deadlock_timeout = '1 min'")
    await stranger.query('BEGIN')
    await stranger.query('SELECT FROM calls WHERE id = $1 FOR UPDATE', [last])
    settleAll(ledger, calls)
    await vi.waitFor(async () => {
      const waiting = await admin.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
      expect(waiting.rowCount).toBe(1)
    }, 20_000)
    await stranger.query('SELECT FROM calls WHERE id = $1 FOR UPDATE', [first])
    await stranger.query('COMMIT')
    await stranger.end()
    expect(failures.get('40P01')).toBeGreaterThan(0)
    await expectAllWritten(ledger, calls)
  })

  test('are written but for the texts of one that a rule of the database refuses', async () => {
    await admin.query("ALTER TABLE calls ADD CONSTRAINT planted CHECK (model <> 'refused')")
    onTestFinished(async () => void (await admin.query('ALTER TABLE calls DROP CONSTRAINT planted')))
    const ledger = fixture.ledgerOf()
    const calls = await running(ledger, 5)
    for (const [index, callId] of calls.entries()) {
      const model = index === 3 ? 'refused' : 'other'
      ledger.settle({ callId, outcome: 'done', model, totalTokens: 18, durationMs: 1 })
    }
    expect(await ledger.close(20_000)).toBe(0)
    const rows = await Promise.all(calls.map(rowOf))
    expect(
      rows.map(({ outcome, reason, model, totalTokens }) => [outcome, reason, model, totalTokens]),
    ).toEqual([
      ['done', null, 'other', 18],
      ['done', null, 'other', 18],
      ['done', null, 'other', 18],
      ['interrupted', 'interrupted', null, 18],
      ['done', null, 'other', 18],
    ])
    expect(await verifyUsage(fixture.database.sql, { retentionDays: 400, extent: 'all' })).toEqual([])
  })
})
