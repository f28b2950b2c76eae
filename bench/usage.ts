import { parseArgs } from 'node:util'
import type { Database } from '../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../apps/gateway/src/core/database/open.ts'
import { verifyUsage } from '../apps/gateway/src/core/ledger/verify.ts'
import { type ScratchDatabase, withScratchDatabase } from './scratch-database.ts'
import { createUsageData, DAYS, KEYS, USERS } from './usage-data.ts'
import { createQuestions, type Figures, measure } from './usage-questions.ts'

/**
 * `pnpm bench:usage [--quick | --calls <number>] [--keep]` measures what reports and pages of the ledger cost with the
 * given number of calls in the ledger, and with half as many, on a PostgreSQL server (`BENCH_DATABASE_URL`,
 * `TEST_DATABASE_URL` or the local one).
 */
const { values: flags } = parseArgs({
  options: { calls: { type: 'string' }, quick: { type: 'boolean' }, keep: { type: 'boolean' } },
})
const CALLS = Number(flags.calls ?? (flags.quick ? 200_000 : 10_000_000))
const REPORT_MS_MAX = 50
/** Tolerance for the number of pages, which depends on where rows are stored. */
const GROWTH_MAX = 1.25

await withScratchDatabase(bench, { keep: flags.keep })

async function bench(scratch: ScratchDatabase): Promise<void> {
  const database = await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 600_000 })
  await database.migrate()
  const data = await createUsageData(scratch.url)
  const questions = createQuestions(database)
  const rounds: Map<string, Figures>[] = []
  console.log(`PostgreSQL ${scratch.version}; ${KEYS} keys of ${USERS} users, ${DAYS} days.`)

  // Loads every other call of each day first, then the rest: the same days, keys and agents with twice the calls.
  for (const first of [0, 1]) {
    const startedMs = performance.now()
    await data.loadCalls(CALLS, first, 2)
    await data.rollUp()
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    console.log(`\n${(CALLS * (first + 1)) / 2} calls, loaded in ${seconds} s: ${await data.sizes()}`)
    rounds.push(await measure(questions, database.sql))
  }

  const [half, whole] = rounds as [Map<string, Figures>, Map<string, Figures>]
  console.log('\n|  | p50, half the calls | p50 | p99 | pages read, half | pages read | to reach | reached |')
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |')
  for (const [name, figures] of whole) console.log(row(name, half.get(name), figures))
  await verify(database)
  await data.close()
  await database.close()
}

async function verify({ sql }: Database): Promise<void> {
  for (const extent of ['recent', 'all'] as const) {
    const startedMs = performance.now()
    const drifts = await verifyUsage(sql, { retentionDays: DAYS, extent })
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    console.log(`\nVerification (${extent}): ${seconds} s, ${drifts.length} drifts.`)
  }
}

function row(name: string, half: Figures | undefined, whole: Figures): string {
  const cells = [
    name,
    ms(half?.p50Ms),
    ms(whole.p50Ms),
    ms(whole.p99Ms),
    half?.plan?.pages,
    whole.plan?.pages,
  ]
  return `| ${[...cells, ...verdict(half, whole)].join(' | ')} |`
}

function verdict(half: Figures | undefined, whole: Figures): string[] {
  if (whole.plan === undefined || half?.plan === undefined) return ['', '']
  const { pages, tables } = whole.plan
  const isReached =
    whole.p99Ms <= REPORT_MS_MAX && pages <= half.plan.pages * GROWTH_MAX && !tables.includes('calls')
  return [`p99 ≤ ${REPORT_MS_MAX} ms, no ledger row, no growth`, isReached ? 'yes' : 'no']
}

function ms(value = Number.NaN): string {
  return `${value.toFixed(1)} ms`
}
