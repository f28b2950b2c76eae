import type { Database } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { verifyUsage } from '../../apps/gateway/src/core/ledger/verify.ts'
import { createUsageData, DAYS, KEYS, USERS } from '../data/usage-data.ts'
import { printTable } from '../figures/print-table.ts'
import { createQuestions, type Figures, measure } from '../load/usage-questions.ts'
import type { Stage } from '../stage.ts'

const REPORT_MS_MAX = 50
/** Tolerance for the number of pages, which depends on where rows are stored. */
const GROWTH_MAX = 1.25

/** What reports and pages of the ledger cost with so many calls in the ledger, and with half as many. */
export async function bench(stage: Stage): Promise<void> {
  const calls = Number(stage.options.calls ?? (stage.isQuick ? 200_000 : 10_000_000))
  const scratch = await stage.database()
  const database = await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 600_000 })
  stage.atEnd(() => database.close())
  await database.migrate()
  const data = await createUsageData(scratch.url)
  stage.atEnd(data.close)
  const questions = createQuestions(database)
  const rounds: Map<string, Figures>[] = []
  console.log(`PostgreSQL ${scratch.version}; ${KEYS} keys of ${USERS} users, ${DAYS} days.`)

  // Loads every other call of each day first, then the rest: the same days, keys and agents with twice the calls.
  for (const first of [0, 1]) {
    const startedMs = performance.now()
    await data.loadCalls(calls, first, 2)
    await data.rollUp()
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    console.log(`\n${(calls * (first + 1)) / 2} calls, loaded in ${seconds} s: ${await data.sizes()}`)
    rounds.push(await measure(questions, database.sql))
  }

  const [half, whole] = rounds as [Map<string, Figures>, Map<string, Figures>]
  printTable(
    ' | p50, half the calls | p50 | p99 | pages read, half | pages read | aim | reached',
    [...whole].map(([name, figures]) => row(name, half.get(name), figures)),
  )
  await verify(database)
}

async function verify({ sql }: Database): Promise<void> {
  for (const extent of ['recent', 'all'] as const) {
    const startedMs = performance.now()
    const drifts = await verifyUsage(sql, { retentionDays: DAYS, extent })
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    console.log(`Verification (${extent}): ${seconds} s, ${drifts.length} drifts.`)
  }
}

function row(name: string, half: Figures | undefined, whole: Figures): string[] {
  return [
    name,
    ms(half?.p50Ms),
    ms(whole.p50Ms),
    ms(whole.p99Ms),
    `${half?.plan?.pages ?? ''}`,
    `${whole.plan?.pages ?? ''}`,
    ...verdict(half, whole),
  ]
}

function verdict(half: Figures | undefined, whole: Figures): string[] {
  if (whole.plan === undefined || half?.plan === undefined) return []
  const { pages, tables } = whole.plan
  const isReached =
    whole.p99Ms <= REPORT_MS_MAX && pages <= half.plan.pages * GROWTH_MAX && !tables.includes('calls')
  return [`p99 ≤ ${REPORT_MS_MAX} ms, no ledger row, no growth`, isReached ? 'yes' : 'no']
}

function ms(value = Number.NaN): string {
  return `${value.toFixed(1)} ms`
}
