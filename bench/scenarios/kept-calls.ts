import { randomBytes, randomUUID } from 'node:crypto'
import {
  type DeafProxy,
  startDeafProxy,
} from '../../apps/gateway/src/core/reply-log/wake-ups/deaf-proxy.test-support.ts'
import { type KeptReplicas, type Member, startKeptReplicas } from '../../test/support/kept-replicas.ts'
import { askAll, killAmidCalls, outcomesOf, stopTimes } from '../../test/support/kept-trials.ts'
import { costOf } from '../figures/cost.ts'
import { each, inTurns } from '../figures/pair.ts'
import { cpuUs } from '../figures/process-usage.ts'
import { median, quantile } from '../figures/quantile.ts'
import { range } from '../figures/rows.ts'
import { run, type Target } from '../load/load.ts'
import { CHUNKS_PER_STREAM, JSON_CALL, STREAM_CALL } from '../load/workload.ts'
import { Figures, ms } from '../resilience/figures.ts'
import { mainOf } from '../servers/checkout.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import { SERVER_URL } from '../servers/scratch-database.ts'
import type { Stage } from '../stage.ts'

type Part = (stage: Stage, figures: Figures) => Promise<void>

const PARTS: Readonly<Record<string, Part>> = {
  kills: measureKills,
  same: measureSame,
  stops: measureStops,
  cpu: measureCpu,
}

const REDIS_URL = process.env.BENCH_REDIS_URL ?? process.env.TEST_REDIS_URL

/** What becomes of kept calls in several processes, and what they cost. Ends with 1 if an aim is missed. */
export async function bench(stage: Stage): Promise<void> {
  const { only } = stage.options
  if (only !== undefined && PARTS[only] === undefined)
    throw new Error(`--only is one of ${Object.keys(PARTS).join(', ')}.`)
  const figures = new Figures('kept-calls')
  for (const [name, measure] of Object.entries(PARTS)) {
    if (only === undefined || only === name) await measure(stage, figures).finally(() => stage.clear())
  }
  figures.end()
}

async function startReplicas(
  stage: Stage,
  members: readonly Member[],
  settings?: Readonly<Record<string, unknown>>,
): Promise<KeptReplicas> {
  const replicas = await startKeptReplicas(SERVER_URL, members, settings === undefined ? {} : { settings })
  stage.atEnd(replicas.remove)
  return replicas
}

/** Kills the process of calls at random moments, until there were so many calls. */
async function measureKills(stage: Stage, figures: Figures): Promise<void> {
  const aim = Number(stage.options.kills ?? (stage.isQuick ? 10 : 100))
  const replicas = await startReplicas(stage, [{}, {}], { instance: { leaseMs: 2_000 } })
  const faults: string[] = []
  let calls = 0
  let kills = 0
  while (calls < aim) {
    const killed = await killAmidCalls(replicas)
    faults.push(...killed.faults)
    calls += killed.interrupted
    kills += 1
  }
  for (const fault of faults) console.log(fault)
  figures.add('kills', `${calls} calls whose process died, in ${kills} kills: ${faults.length} faults`, {
    text: 'a prefix, one frame, one turn, one row',
    isHeld: faults.length === 0,
  })
}

/** The same request from many clients at four processes. */
async function measureSame(stage: Stage, figures: Figures): Promise<void> {
  const times = Number(stage.options.same ?? (stage.isQuick ? 200 : 1_000))
  const env = { SECRET_KEY: randomBytes(32).toString('base64') }
  const replicas = await startReplicas(stage, [{ env }, { env }, { env }, { env }])
  for (const stream of [true, false]) {
    const { id, full_key: apiKey } = await replicas.api.createKey(replicas.token)
    const query = `sandbox:slow=10 sandbox:long=40 ${randomUUID()}`
    const startedMs = performance.now()
    const answers = await askAll(replicas, apiKey, query, { agent: 'dify', query, stream, times })
    const tookMs = performance.now() - startedMs
    const different = new Set(answers.map((answer) => JSON.stringify(answer))).size
    const turns = replicas.sandbox.agents.dify.seen.turns({ query })
    const rows = (await outcomesOf(replicas, id)).length
    const isHeld = different === 1 && turns === 1 && rows === 1 && answers[0]?.status === 200
    figures.add(
      'same',
      `${times} × ${stream ? 'a stream' : 'JSON'} in ${ms(tookMs)}: ${different} different answers, ${turns} turns, ${rows} rows`,
      { text: 'one of each', isHeld },
    )
  }
}

/** How long a stop at another replica takes to reach the platform. */
async function measureStops(stage: Stage, figures: Figures): Promise<void> {
  const count = stage.isQuick ? 10 : 50
  const proxies: DeafProxy[] = []
  stage.atEnd(async () => {
    for (const proxy of proxies) proxy.close()
  })
  const reach = async (databaseUrl: string) => {
    const proxy = await startDeafProxy(databaseUrl)
    proxies.push(proxy)
    return proxy.url
  }
  const ways: [name: string, mostMs: number, member: Member][] = [
    ['by NOTIFY', 100, {}],
    ['by polling', 1_100, { reach }],
  ]
  if (REDIS_URL !== undefined) ways.unshift(['by Redis', 100, { env: { REDIS_URL: `${REDIS_URL}/9` } }])
  for (const [name, mostMs, member] of ways) {
    const replicas = await startReplicas(stage, [member, member])
    await stopTimes(replicas, 3)
    const times = await stopTimes(replicas, count)
    const most = quantile(times, 1)
    figures.add('stops', `${name}: ${ms(median(times))}, at most ${ms(most)}`, {
      text: `${mostMs} ms`,
      isHeld: most <= mostMs,
    })
    await replicas.remove()
  }
}

const ROUNDS = 7
const LOADS = {
  full: { warmUp: 20_000, json: 3_000, streams: 192 },
  quick: { warmUp: 2_000, json: 500, streams: 32 },
}
const BUSY = 32
const EPHEMERAL_RATIO_MAX = 1.02
const KEPT_RATIO_MAX = 1.15

/** CPU of calls without any of it, compared with an earlier commit; and CPU of kept streams, compared with others. */
async function measureCpu(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { from } = stage.options
  const loads = stage.isQuick ? LOADS.quick : LOADS.full
  const platform = await stage.platform()
  const start = async (main?: string): Promise<GatewayTarget> => {
    const database = await stage.database()
    const gateway = await stage.gateway(database.url, platform.origin, main === undefined ? {} : { main })
    await run(gateway, JSON_CALL, { calls: loads.warmUp, concurrency: BUSY })
    await run(gateway, STREAM_CALL, { calls: loads.streams * 2, concurrency: BUSY })
    await database.analyze()
    await database.pinSessions()
    return gateway
  }
  const gateway = await start()
  // First, while neither of them has had a kept call.
  if (from !== undefined) {
    const pair = { base: await start(await mainOf(stage, from)), tested: gateway }
    for (const { name, call, count } of [
      { name: 'a JSON call without a key, beside the earlier commit', call: JSON_CALL, count: loads.json },
      { name: 'a stream without a key, beside the earlier commit', call: STREAM_CALL, count: loads.streams },
    ]) {
      const load = { calls: count, concurrency: BUSY }
      const costs = await inTurns(ROUNDS, pair, (target) => costOf(target, call, load))
      report(
        figures,
        name,
        costs.map((cost) => each(cost, ({ cpuUs: us }) => us / count)),
        EPHEMERAL_RATIO_MAX,
      )
    }
  }
  const streams = { calls: loads.streams, concurrency: BUSY }
  await run(keptAt(gateway), KEPT_STREAM_CALL, streams)
  const ways = { base: gateway as Target, tested: keptAt(gateway) }
  const rounds = await inTurns(ROUNDS, ways, async (target) => {
    const isKept = target !== gateway
    return (await costOf(target, isKept ? KEPT_STREAM_CALL : STREAM_CALL, streams)).cpuUs
  })
  const perChunk = rounds.map((round) => each(round, (us) => us / loads.streams / CHUNKS_PER_STREAM))
  report(figures, 'a chunk of a kept stream, beside one of another', perChunk, KEPT_RATIO_MAX)
  figures.add('cpu', `the gateway has used ${(cpuUs(gateway.pid) / 1e6).toFixed(0)} s in all`)
}

/** A stream whose last event has a line with its number. */
const KEPT_STREAM_CALL = { ...STREAM_CALL, ending: /data: \[DONE\]\nid: \d+\n\n$/ }

/** The same gateway for a client that sends another `Idempotency-Key` with each call. */
function keptAt(gateway: GatewayTarget): Target {
  return {
    pid: gateway.pid,
    origin: gateway.origin,
    get headers() {
      return { ...gateway.headers, 'idempotency-key': randomUUID() }
    },
  }
}

function report(
  figures: Figures,
  name: string,
  rounds: readonly { readonly base: number; readonly tested: number }[],
  ratioMax: number,
): void {
  const ratios = rounds.map(({ base, tested }) => tested / base)
  const us = (side: 'base' | 'tested') => `${median(rounds.map((round) => round[side])).toFixed(1)} µs`
  const ratio = median(ratios)
  figures.add(
    'cpu',
    `${name}: ${us('tested')} beside ${us('base')}, × ${ratio.toFixed(3)} (${range(ratios)})`,
    { text: `× ${ratioMax}`, isHeld: ratio <= ratioMax },
  )
}
