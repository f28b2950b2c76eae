import { type Cost, costOf } from '../figures/cost.ts'
import { each, onBoth, type Pair } from '../figures/pair.ts'
import { printTable } from '../figures/print-table.ts'
import { median, quantile } from '../figures/quantile.ts'
import { COMPARED, cpuRow, goal, range } from '../figures/rows.ts'
import { type Load, run, type Target } from '../load/load.ts'
import { type Call, CHUNKS_PER_STREAM, JSON_CALL, KEPT_CALL, STREAM_CALL } from '../load/workload.ts'
import { startComparedServers } from '../servers/compared-servers.ts'
import type { Stage } from '../stage.ts'

/** On a slow machine the bench runs fewer rounds instead of taking longer. */
const ROUNDS_WITHIN_MS = 110_000
const COMMITS = 200

const BUSY = 32
const JSON_CALLS = 3_000
const KEPT_CALLS = 1_500
const STREAMS = 192
const CALLS_ALONE = 200

/**
 * V8 keeps optimizing the path of a call for some ten thousands of calls, on threads whose time is counted. A gateway
 * serves far more than that, so the warm-up is not part of the cost.
 */
const WARM_UP = { json: 60_000, kept: 6_000, streams: 800 }

/** Goals that do not fail the bench. */
const JSON_CPU_RATIO_MAX = 1.5
const CHUNK_CPU_RATIO_MAX = 1.3
const ADDED_BEYOND_COMMIT_MS_MAX = 1

/** What a call costs in the gateway with all features on, compared with a bare Node pass-through in the same run. */
export async function bench(stage: Stage): Promise<void> {
  const { database, targets } = await startComparedServers(stage)
  await onBoth(targets, warmUp)
  await database.analyze()

  const roundsMax = stage.isQuick ? 2 : 7
  const rounds: Round[] = []
  const commitsMs: number[] = []
  let arePinned = true
  const deadlineMs = performance.now() + ROUNDS_WITHIN_MS
  while (rounds.length < roundsMax && performance.now() < deadlineMs) {
    arePinned = (await database.pinSessions()) && arePinned
    rounds.push(await measureRound(targets))
    commitsMs.push(median(await database.commit(COMMITS)))
  }
  console.log(`PostgreSQL ${database.version}; ${rounds.length} rounds.`)
  if (!arePinned)
    console.log('The sessions of PostgreSQL could not be kept off the core of the server under test.')
  printCalls(rounds, median(commitsMs))
}

async function warmUp(target: Target): Promise<void> {
  await run(target, JSON_CALL, { calls: WARM_UP.json, concurrency: BUSY })
  await run(target, KEPT_CALL, { calls: WARM_UP.kept, concurrency: BUSY })
  await run(target, STREAM_CALL, { calls: WARM_UP.streams, concurrency: BUSY })
}

interface Round {
  readonly json: Pair<Cost>
  readonly kept: Pair<Cost>
  readonly streams: Pair<Cost>
  readonly alone: Pair<Cost>
}

async function measureRound(targets: Pair<Target>): Promise<Round> {
  const measure = (call: Call, load: Load) => onBoth(targets, (target) => costOf(target, call, load))
  return {
    json: await measure(JSON_CALL, { calls: JSON_CALLS, concurrency: BUSY }),
    kept: await measure(KEPT_CALL, { calls: KEPT_CALLS, concurrency: BUSY }),
    streams: await measure(STREAM_CALL, { calls: STREAMS, concurrency: BUSY }),
    alone: await measure(JSON_CALL, { calls: CALLS_ALONE, concurrency: 1 }),
  }
}

function printCalls(rounds: readonly Round[], commitMs: number): void {
  const cpu = (load: keyof Round, units: number) =>
    rounds.map((round) => each(round[load], ({ cpuUs }) => cpuUs / units))
  const time = (load: keyof Round, share: number) =>
    rounds.map((round) => each(round[load], ({ timesMs }) => quantile(timesMs, share)))
  printTable(` | pass-through | gateway | ${COMPARED}`, [
    cpuRow('CPU a JSON call, 32 at a time', cpu('json', JSON_CALLS), JSON_CPU_RATIO_MAX),
    cpuRow('the same at /api/v1/chat, the turn kept', cpu('kept', KEPT_CALLS)),
    cpuRow(
      'CPU a streamed chunk, 32 streams',
      cpu('streams', STREAMS * CHUNKS_PER_STREAM),
      CHUNK_CPU_RATIO_MAX,
    ),
    timeRow('p50, one at a time', time('alone', 0.5), commitMs + ADDED_BEYOND_COMMIT_MS_MAX),
    timeRow('p99, one at a time', time('alone', 0.99)),
    timeRow('p50, 32 at a time', time('json', 0.5)),
    timeRow('p99, 32 at a time', time('json', 0.99)),
    ['a bare commit, p50', '', ms(commitMs)],
  ])
}

function timeRow(name: string, pairs: readonly Pair<number>[], addedMsMax?: number): string[] {
  const added = pairs.map(({ base, tested }) => tested - base)
  const addedMs = median(added)
  return [
    name,
    ms(median(pairs.map(({ base }) => base))),
    ms(median(pairs.map(({ tested }) => tested))),
    `+ ${ms(addedMs)} (${range(added)})`,
    ...goal(addedMs, addedMsMax, `commit + 1 ms = ${ms(addedMsMax ?? 0)}`),
  ]
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}
