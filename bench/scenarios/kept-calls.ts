import { randomUUID } from 'node:crypto'
import {
  type DeafProxy,
  startDeafProxy,
} from '../../apps/gateway/src/core/reply-log/wake-ups/deaf-proxy.test-support.ts'
import { type Member, startKeptReplicas } from '../../test/support/kept-replicas.ts'
import { stopTimes } from '../../test/support/kept-trials.ts'
import { costOf } from '../figures/cost.ts'
import { each, inTurns } from '../figures/pair.ts'
import { compared, type Figures, ms, runParts } from '../figures/parts.ts'
import { cpuUs } from '../figures/process-usage.ts'
import { median, quantile } from '../figures/quantile.ts'
import { run, type Target } from '../load/load.ts'
import { CHUNKS_PER_STREAM, JSON_CALL, STREAM_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import { SERVER_URL } from '../servers/scratch-database.ts'
import type { Stage } from '../stage.ts'

const REDIS_URL = process.env.BENCH_REDIS_URL ?? process.env.TEST_REDIS_URL

/** How long stops of kept calls take in several processes, and what kept streams cost. */
export function bench(stage: Stage): Promise<void> {
  return runParts(stage, 'kept-calls', { stops: measureStops, cpu: measureCpu })
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
    const replicas = await startKeptReplicas(SERVER_URL, [member, member], {})
    stage.atEnd(replicas.remove)
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
const LOADS = { full: { warmUp: 20_000, streams: 192 }, quick: { warmUp: 2_000, streams: 32 } }
const BUSY = 32
const KEPT_RATIO_MAX = 1.15

/** CPU of kept streams, compared with others. */
async function measureCpu(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const loads = stage.isQuick ? LOADS.quick : LOADS.full
  const database = await stage.database()
  const platform = await stage.platform()
  const gateway = await stage.gateway(database.url, platform.origin)
  const streams = { calls: loads.streams, concurrency: BUSY }
  await run(gateway, JSON_CALL, { calls: loads.warmUp, concurrency: BUSY })
  await run(gateway, STREAM_CALL, { ...streams, calls: loads.streams * 2 })
  await run(keptAt(gateway), KEPT_STREAM_CALL, streams)
  await database.analyze()
  await database.pinSessions()
  const ways = { base: gateway as Target, tested: keptAt(gateway) }
  const rounds = await inTurns(ROUNDS, ways, async (target) => {
    const isKept = target !== gateway
    return (await costOf(target, isKept ? KEPT_STREAM_CALL : STREAM_CALL, streams)).cpuUs
  })
  const perChunk = rounds.map((round) => each(round, (us) => us / loads.streams / CHUNKS_PER_STREAM))
  const name = 'a chunk of a kept stream, beside one of another'
  figures.add('cpu', ...compared(name, perChunk, { text: `× ${KEPT_RATIO_MAX}`, ratioMax: KEPT_RATIO_MAX }))
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
