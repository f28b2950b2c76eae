import { systemRuntime } from '../../apps/gateway/src/core/base/runtime.ts'
import type { Database, Sql } from '../../apps/gateway/src/core/database/database.ts'
import { ampleLimits } from '../../apps/gateway/src/core/limits/limits.test-support.ts'
import { createUsage } from '../../apps/gateway/src/core/reports/usage.ts'
import type { Principal } from '../../apps/gateway/src/core/requests/principal.ts'
import { DAYS } from '../data/usage-data.ts'
import { quantile } from '../figures/quantile.ts'

export interface Question {
  readonly name: string
  readonly kind: 'report' | 'page'
  ask(): Promise<unknown>
}

export interface Figures {
  readonly p50Ms: number
  readonly p99Ms: number
  /** Only for reports. */
  readonly plan?: Plan
}

export interface Plan {
  /** Number of blocks of 8 KiB that were read from memory or disk. */
  readonly pages: number
  readonly tables: readonly string[]
}

const RUNS = 200
/** If one run takes seconds, fewer runs are enough. */
const RUNS_WITHIN_MS = 15_000
const DAY_MS = 86_400_000
const PAGE = { take: 21 }

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The statements of the last question, for EXPLAIN. */
let statements: Statement[] = []

/** The three reports of the target, the first also in a time zone whose days need hourly rollups, and ledger pages. */
export function createQuestions({ sql, prisma }: Database): readonly Question[] {
  const recorded: Sql = {
    query(text, values = []) {
      statements.push({ text, values })
      return sql.query(text, values)
    },
  }
  const { usage, calls } = createUsage({
    database: { kind: 'server', sql: recorded, prisma },
    runtime: systemRuntime,
    limits: ampleLimits(),
    config: { retentionDays: DAYS },
    catalog: { knownIds: () => new Set() },
  })
  const to = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
  const before = (days: number) => new Date(to.getTime() - days * DAY_MS)
  const yearAgo = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() - 11))
  // The key with the most calls.
  const user = 'aa000000-0000-7000-8000-000000000000'
  const key = 'bb000000-0000-7000-8000-000000000000'
  const days = { from: before(30), to, granularity: 'day', groupBy: [], ownerId: user } as const
  const months = { from: yearAgo, to, granularity: 'month', groupBy: [] } as const
  const hours = { from: before(7), to, granularity: 'hour', groupBy: ['agent'] } as const

  const report = (name: string, query: typeof days | typeof months | typeof hours, timezone = 'UTC') =>
    ({ name, kind: 'report', ask: () => usage.report(ADMIN, { ...query, timezone }) }) as const
  const page = (name: string, query: Parameters<typeof calls.list>[1]) =>
    ({ name, kind: 'page', ask: () => calls.list(ADMIN, query, PAGE) }) as const
  return [
    report('30 days of one user, daily', days),
    report('12 months of everything, monthly', months),
    report('7 days by agent, hourly', hours),
    report('30 days of one user, daily, Shanghai', days, 'Asia/Shanghai'),
    report('12 months of everything, monthly, Shanghai', months, 'Asia/Shanghai'),
    page('page of the ledger', {}),
    page('page of a key', { keyId: key }),
    page('page of a user', { ownerId: user }),
    page('page of a user, a day 200 days ago', { ownerId: user, from: before(200), to: before(199) }),
    page('by request id', { requestId: 'c4ca4238a0b923820dcc509a6f75849b' }),
    page('by request id, that day', { requestId: 'none', from: before(200), to: before(199) }),
  ]
}

const ADMIN: Principal = {
  userId: '00000000-0000-0000-0000-000000000000',
  role: 'admin',
  via: { kind: 'token', tokenId: '00000000-0000-0000-0000-000000000000', expiresAt: new Date(0) },
}

export async function measure(questions: readonly Question[], sql: Sql): Promise<Map<string, Figures>> {
  const figures = new Map<string, Figures>()
  for (const { name, kind, ask } of questions) {
    await ask()
    const timesMs: number[] = []
    const deadlineMs = performance.now() + RUNS_WITHIN_MS
    while (timesMs.length < RUNS && performance.now() < deadlineMs) {
      statements = []
      const startedMs = performance.now()
      await ask()
      timesMs.push(performance.now() - startedMs)
    }
    const plan = kind === 'report' ? { plan: await planOf(sql, statements) } : {}
    figures.set(name, { p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99), ...plan })
  }
  return figures
}

interface Node {
  readonly 'Relation Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Node[]
}

async function planOf(sql: Sql, statements: readonly Statement[]): Promise<Plan> {
  let pages = 0
  const tables: string[] = []
  for (const { text, values } of statements) {
    const rows = await sql.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values,
    )
    const root = rows[0]?.['QUERY PLAN'][0].Plan
    if (root === undefined) throw new Error('PostgreSQL explained nothing')
    pages += root['Shared Hit Blocks'] + root['Shared Read Blocks']
    tables.push(...tablesOf(root))
  }
  return { pages, tables }
}

function tablesOf({ 'Relation Name': name, Plans = [] }: Node): string[] {
  return [...(name === undefined ? [] : [name]), ...Plans.flatMap(tablesOf)]
}
