import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { costOf } from '../figures/cost.ts'
import { each, inTurns } from '../figures/pair.ts'
import { median } from '../figures/quantile.ts'
import { range } from '../figures/rows.ts'
import { run } from '../load/load.ts'
import { CHUNKS_PER_STREAM, JSON_CALL, STREAM_CALL } from '../load/workload.ts'
import { Figures } from '../resilience/figures.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayOptions, GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const ROUNDS = 7
const BUSY = 32
const LOADS = {
  full: { warmUp: 20_000, json: 5_000, streams: 192 },
  quick: { warmUp: 2_000, json: 1_000, streams: 64 },
}
const JSON_US_MAX = 25
const CHUNK_US_MAX = 0.5

/** What tracing costs: a gateway that sends every trace to a collector, beside one without. Ends with 1 if an aim is missed. */
export async function bench(stage: Stage): Promise<void> {
  stage.atEnd(leaveServerCore())
  const loads = stage.isQuick ? LOADS.quick : LOADS.full
  const figures = new Figures('traces')
  const platform = await stage.platform()
  const collector = await startCollector(stage)
  const start = async (env: GatewayOptions['env'] = {}): Promise<GatewayTarget> => {
    const database = await stage.database()
    const gateway = await stage.gateway(database.url, platform.origin, { env })
    await run(gateway, JSON_CALL, { calls: loads.warmUp, concurrency: BUSY })
    await run(gateway, STREAM_CALL, { calls: loads.streams * 2, concurrency: BUSY })
    await database.analyze()
    await database.pinSessions()
    return gateway
  }
  // Sent so soon that a round pays for what it has recorded.
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
  const pair = { base: await start(), tested: await start(traced) }
  for (const { name, call, count, parts, usMax } of [
    { name: 'a JSON call', call: JSON_CALL, count: loads.json, parts: 1, usMax: JSON_US_MAX },
    {
      name: 'a chunk',
      call: STREAM_CALL,
      count: loads.streams,
      parts: CHUNKS_PER_STREAM,
      usMax: CHUNK_US_MAX,
    },
  ]) {
    const load = { calls: count, concurrency: BUSY }
    const costs = await inTurns(ROUNDS, pair, (target) => costOf(target, call, load))
    const rounds = costs.map((cost) => each(cost, ({ cpuUs }) => cpuUs / count / parts))
    const more = median(rounds.map(({ base, tested }) => tested - base))
    const ratios = rounds.map(({ base, tested }) => tested / base)
    const us = (side: 'base' | 'tested') => `${median(rounds.map((round) => round[side])).toFixed(1)} µs`
    figures.add(
      'cpu',
      `${name}: ${us('tested')} traced, ${us('base')} not, × ${median(ratios).toFixed(3)} (${range(ratios)}), + ${more.toFixed(2)} µs`,
      { text: `+ ${usMax} µs`, isHeld: more <= usMax },
    )
  }
  figures.add('collector', `took ${(collector.bytes / 1e6).toFixed(1)} MB in ${collector.requests} requests`)
  figures.end()
}

/** A collector that reads what it gets and keeps nothing. */
async function startCollector(stage: Stage) {
  const counts = { bytes: 0, requests: 0, url: '' }
  const server = createServer((request, response) => {
    counts.requests += 1
    request.on('data', (bytes: Buffer) => {
      counts.bytes += bytes.length
    })
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  counts.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  stage.atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return counts
}
