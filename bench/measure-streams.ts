import { readFileSync } from 'node:fs'
import { run, type Target } from './load.ts'
import { each, onBoth, type Pair, settled } from './measure.ts'
import { OpenStreams } from './open-streams.ts'
import { cpuUs, residentKib } from './process-usage.ts'
import { JSON_CALL, PACED_CALL } from './workload.ts'

/** The cost of streams at one number of open streams. */
export interface StreamCosts {
  /** The smaller count of the two servers. */
  readonly open: number
  readonly kilobytes: Pair<number>
  /** One value per window; both servers are measured in the same windows. */
  readonly chunkCpuUs: readonly Pair<number>[]
  readonly chunksPerRead: Pair<number>
}

export const STREAMS_MAX = 9_000
const OPEN = [1_000, STREAMS_MAX]
const WARM_UP_MS = 10_000
const WINDOW_MS = 2_000
/** File descriptors that are reserved for everything other than streams. */
const OTHER_FILES = 200

/**
 * Number of streams that a process may hold open, each with a socket on either side. Node has already raised its limit to
 * the hard limit.
 */
export function streamsAllowed(): number {
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const filesMax = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  return filesMax === 'unlimited'
    ? Number.POSITIVE_INFINITY
    : Math.floor((Number(filesMax) - OTHER_FILES) / 2)
}

/** Returns the counts of open streams that this machine can measure. */
function openCounts(): number[] {
  return [...new Set(OPEN.map((count) => Math.min(count, streamsAllowed())))]
}

/**
 * Must run on fresh processes: later their heaps have free space, and streams seem to cost nothing. Both servers hold
 * their streams at the same time and on the same core, so that other load on the machine affects both.
 */
export async function measureStreams(targets: Pair<Target>, windows: number): Promise<StreamCosts[]> {
  const baseKib = await onBoth(targets, async (target) => {
    await run(target, JSON_CALL, { calls: 500, concurrency: 32 })
    await settled()
    return residentKib(target.pid)
  })
  const streams = each(targets, (target) => new OpenStreams(target))
  const costs: StreamCosts[] = []
  try {
    for (const count of openCounts()) {
      await onBoth(streams, (all) => all.upTo(count, PACED_CALL))
      await passed(WARM_UP_MS)
      costs.push(await costsOf(targets, streams, { baseKib, windows }))
    }
    return costs
  } finally {
    await onBoth(streams, (all) => all.close())
  }
}

async function costsOf(
  targets: Pair<Target>,
  streams: Pair<OpenStreams>,
  { baseKib, windows }: { baseKib: Pair<number>; windows: number },
): Promise<StreamCosts> {
  const look = () => both((server) => ({ cpuUs: cpuUs(targets[server].pid), ...streams[server].seen }))
  const first = look()
  const chunkCpuUs: Pair<number>[] = []
  for (let last = first; chunkCpuUs.length < windows; ) {
    await passed(WINDOW_MS)
    const now = look()
    const before = last
    chunkCpuUs.push(
      both(
        (server) => (now[server].cpuUs - before[server].cpuUs) / (now[server].chunks - before[server].chunks),
      ),
    )
    last = now
  }
  const end = look()
  return {
    open: Math.min(streams.passThrough.open, streams.gateway.open),
    kilobytes: both(
      (server) => ((residentKib(targets[server].pid) - baseKib[server]) * 1.024) / streams[server].open,
    ),
    chunkCpuUs,
    chunksPerRead: both(
      (server) => (end[server].chunks - first[server].chunks) / (end[server].reads - first[server].reads),
    ),
  }
}

function both<T>(measure: (server: keyof Pair<unknown>) => T): Pair<T> {
  return { passThrough: measure('passThrough'), gateway: measure('gateway') }
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
