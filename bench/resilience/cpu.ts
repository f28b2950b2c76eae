import { costOf } from '../figures/cost.ts'
import { each, inTurns } from '../figures/pair.ts'
import { compared, type Figures } from '../figures/parts.ts'
import { run } from '../load/load.ts'
import { JSON_CALL, STREAM_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import { mainOf } from '../servers/main-of.ts'
import type { Stage } from '../stage.ts'

const ROUNDS = 5
const RATIO_MAX = 1.05
const LOADS = {
  full: { warmUp: 60_000, json: 3_000, streams: 192 },
  quick: { warmUp: 2_000, json: 500, streams: 32 },
}
const BUSY = 32

/** CPU of a call on one deployment, compared with an earlier commit in the same run. */
export async function measureCpu(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { from = 'HEAD^' } = stage.options
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
  const pair = { base: await start(await mainOf(stage, from)), tested: await start() }
  const calls = [
    { name: 'a JSON call', call: JSON_CALL, count: loads.json },
    { name: 'a stream', call: STREAM_CALL, count: loads.streams },
  ]
  for (const { name, call, count } of calls) {
    const load = { calls: count, concurrency: BUSY }
    const rounds = await inTurns(ROUNDS, pair, (gateway) => costOf(gateway, call, load))
    const perCall = rounds.map((round) => each(round, ({ cpuUs }) => cpuUs / count))
    figures.add('cpu', ...compared(name, perCall, { text: 'at most 5 % more', ratioMax: RATIO_MAX }))
  }
}
