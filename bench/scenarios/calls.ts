import { type Cost, costOf } from '../figures/cost.ts'
import { each, type Pair } from '../figures/pair.ts'
import { printTable } from '../figures/print-table.ts'
import { median, quantile } from '../figures/quantile.ts'
import { COMPARED, cpuRow, goal, range } from '../figures/rows.ts'
import { run, type Target } from '../load/load.ts'
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

/** PGlite is slow enough for fewer calls to take as long. */
const EMBEDDED_SHARE = 1 / 3

/**
 * What a call costs in the gateway with all features on, compared with a bare Node pass-through in the same run, and with the
 * gateway of another commit if `--from` names one, or, with `--grown`, of a gateway that has grown with one on an empty database.
 */
export async function bench(stage: Stage): Promise<void> {
  const { from, embedded, grown: isGrown } = stage.options
  const grown = isGrown ? Number(stage.options.calls ?? (stage.isQuick ? 200_000 : 10_000_000)) : undefined
  const { passThrough, before, gateway } = await startComparedServers(stage, { from, embedded, grown })
  const gateways = [...(before === undefined ? [] : [before]), gateway]
  const { database } = gateway
  const share = embedded ? EMBEDDED_SHARE : 1
  await warmUp(passThrough, 1)
  for (const one of gateways) {
    await warmUp(one.target, share)
    await one.database?.analyze()
  }

  const roundsMax = stage.isQuick ? 2 : 7
  const rounds: Round[] = []
  const commitsMs: number[] = []
  let arePinned = true
  const deadlineMs = performance.now() + ROUNDS_WITHIN_MS * gateways.length
  while (rounds.length < roundsMax && performance.now() < deadlineMs) {
    for (const one of gateways) arePinned = ((await one.database?.pinSessions()) ?? true) && arePinned
    const costs: Costs[] = []
    for (const target of [passThrough, ...gateways.map(({ target }) => target)])
      costs.push(await measure(target, share))
    rounds.push(costs)
    if (database !== undefined) commitsMs.push(median(await database.commit(COMMITS)))
  }
  console.log(
    `${database === undefined ? 'The embedded database' : `PostgreSQL ${database.version}`}; ${rounds.length} rounds.`,
  )
  if (!arePinned)
    console.log('The sessions of PostgreSQL could not be kept off the core of the server under test.')
  const commitMs = database === undefined ? undefined : median(commitsMs)
  for (const [index] of gateways.entries()) {
    const other = isGrown ? 'gateway on an empty database' : `gateway of ${from}`
    const name = index === gateways.length - 1 ? 'gateway' : other
    const pairs = rounds.flatMap(([base, ...tested]) => {
      const costs = tested[index]
      return base === undefined || costs === undefined ? [] : { base, tested: costs }
    })
    printCalls(name, pairs, { share, commitMs })
  }
}

/** `share` of the calls. */
async function warmUp(target: Target, share: number): Promise<void> {
  const calls = (count: number) => ({ calls: Math.round(count * share), concurrency: BUSY })
  await run(target, JSON_CALL, calls(WARM_UP.json))
  await run(target, KEPT_CALL, calls(WARM_UP.kept))
  await run(target, STREAM_CALL, calls(WARM_UP.streams))
}

interface Costs {
  readonly json: Cost
  readonly kept: Cost
  readonly streams: Cost
  readonly alone: Cost
}

/** Of each server in turn: the pass-through, and the gateways. */
type Round = readonly Costs[]

async function measure(target: Target, share: number): Promise<Costs> {
  const of = (call: Call, calls: number, concurrency: number) => costOf(target, call, { calls, concurrency })
  return {
    json: await of(JSON_CALL, Math.round(JSON_CALLS * share), BUSY),
    kept: await of(KEPT_CALL, Math.round(KEPT_CALLS * share), BUSY),
    streams: await of(STREAM_CALL, STREAMS, BUSY),
    alone: await of(JSON_CALL, CALLS_ALONE, 1),
  }
}

interface Measured {
  readonly share: number
  /** Undefined where the database is embedded. */
  readonly commitMs: number | undefined
}

function printCalls(name: string, rounds: readonly Pair<Costs>[], { share, commitMs }: Measured): void {
  const cpu = (load: keyof Costs, units: number) =>
    rounds.map((round) => each(round, (costs) => costs[load].cpuUs / units))
  const time = (load: keyof Costs, part: number) =>
    rounds.map((round) => each(round, (costs) => quantile(costs[load].timesMs, part)))
  printTable(` | pass-through | ${name} | ${COMPARED}`, [
    cpuRow('CPU a JSON call, 32 at a time', cpu('json', Math.round(JSON_CALLS * share)), JSON_CPU_RATIO_MAX),
    cpuRow('the same at /api/v1/chat, the turn kept', cpu('kept', Math.round(KEPT_CALLS * share))),
    cpuRow(
      'CPU a streamed chunk, 32 streams',
      cpu('streams', STREAMS * CHUNKS_PER_STREAM),
      CHUNK_CPU_RATIO_MAX,
    ),
    timeRow('p50, one at a time', time('alone', 0.5), commitMs && commitMs + ADDED_BEYOND_COMMIT_MS_MAX),
    timeRow('p99, one at a time', time('alone', 0.99)),
    timeRow('p50, 32 at a time', time('json', 0.5)),
    timeRow('p99, 32 at a time', time('json', 0.99)),
    ...(commitMs === undefined ? [] : [['a bare commit, p50', '', ms(commitMs)]]),
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
