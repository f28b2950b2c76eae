import { run, type Target } from './load.ts'
import { cpuUs } from './process-usage.ts'
import { quantile } from './quantile.ts'
import { CHUNKS_PER_STREAM, JSON_CALL, KEPT_CALL, STREAM_CALL } from './workload.ts'

export interface Pair<T> {
  readonly passThrough: T
  readonly gateway: T
}

/** Measures both servers directly one after the other, because other load on the machine changes from minute to minute. */
export interface Round {
  readonly jsonCpuUs: Pair<number>
  readonly keptCpuUs: Pair<number>
  readonly chunkCpuUs: Pair<number>
  readonly busyMs: Pair<Times>
  readonly aloneMs: Pair<Times>
}

export interface Times {
  readonly p50: number
  readonly p99: number
}

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

export async function warmUp(target: Target): Promise<void> {
  await run(target, JSON_CALL, { calls: WARM_UP.json, concurrency: BUSY })
  await run(target, KEPT_CALL, { calls: WARM_UP.kept, concurrency: BUSY })
  await run(target, STREAM_CALL, { calls: WARM_UP.streams, concurrency: BUSY })
}

export async function measureRound(targets: Pair<Target>): Promise<Round> {
  const json = await onBoth(targets, (target) =>
    costOf(target, () => run(target, JSON_CALL, { calls: JSON_CALLS, concurrency: BUSY })),
  )
  const kept = await onBoth(targets, (target) =>
    costOf(target, () => run(target, KEPT_CALL, { calls: KEPT_CALLS, concurrency: BUSY })),
  )
  const streams = await onBoth(targets, (target) =>
    costOf(target, () => run(target, STREAM_CALL, { calls: STREAMS, concurrency: BUSY })),
  )
  const alone = await onBoth(targets, (target) =>
    run(target, JSON_CALL, { calls: CALLS_ALONE, concurrency: 1 }),
  )
  return {
    jsonCpuUs: each(json, (cost) => cost.cpuUs / JSON_CALLS),
    keptCpuUs: each(kept, (cost) => cost.cpuUs / KEPT_CALLS),
    chunkCpuUs: each(streams, (cost) => cost.cpuUs / (STREAMS * CHUNKS_PER_STREAM)),
    busyMs: each(json, (cost) => times(cost.timesMs)),
    aloneMs: each(alone, times),
  }
}

export async function onBoth<From, To>(
  pair: Pair<From>,
  measure: (value: From) => Promise<To>,
): Promise<Pair<To>> {
  return { passThrough: await measure(pair.passThrough), gateway: await measure(pair.gateway) }
}

export function each<From, To>(pair: Pair<From>, map: (value: From) => To): Pair<To> {
  return { passThrough: map(pair.passThrough), gateway: map(pair.gateway) }
}

async function costOf(target: Target, work: () => Promise<number[]>) {
  const beforeUs = cpuUs(target.pid)
  const timesMs = await work()
  await settled()
  return { timesMs, cpuUs: cpuUs(target.pid) - beforeUs }
}

function times(timesMs: readonly number[]): Times {
  return { p50: quantile(timesMs, 0.5), p99: quantile(timesMs, 0.99) }
}

/** Work after the reply (settlement in the ledger, closing of sockets) is part of the cost of a call. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200))
}
