import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { settled } from '../figures/cost.ts'
import { each, onBoth, type Pair } from '../figures/pair.ts'
import { printTable } from '../figures/print-table.ts'
import { cpuUs, residentKib } from '../figures/process-usage.ts'
import { COMPARED, cpuRow, goal } from '../figures/rows.ts'
import { run, type Target } from '../load/load.ts'
import { OpenStreams } from '../load/open-streams.ts'
import { CHUNK_APART_MS, JSON_CALL, PACED_CALL, TALKING } from '../load/workload.ts'
import { startComparedServers } from '../servers/compared-servers.ts'
import type { Stage } from '../stage.ts'

const STREAMS_MAX = 9_000
const OPEN = [1_000, STREAMS_MAX]
const WARM_UP_MS = 10_000
const WINDOW_MS = 2_000
/** File descriptors that are reserved for everything other than streams. */
const OTHER_FILES = 200

/** Goals that do not fail the bench. */
const CHUNK_CPU_RATIO_MAX = 1.3
const STREAM_KILOBYTES_MAX = 40

/** The cost of streams at one number of open streams. */
interface StreamCosts {
  /** The smaller count of the two servers. */
  readonly open: number
  readonly kilobytes: Pair<number>
  /** One value per window; both servers are measured in the same windows. */
  readonly chunkCpuUs: readonly Pair<number>[]
  readonly chunksPerRead: Pair<number>
}

/** What an open stream costs in the gateway, compared with a bare Node pass-through in the same run. */
export async function bench(stage: Stage): Promise<void> {
  const { passThrough, gateway } = await startComparedServers(stage)
  await gateway.database?.pinSessions()
  const targets = { base: passThrough, tested: gateway.target }
  const windows = stage.isQuick ? 4 : 10
  const costs = await measureStreams(targets, windows)
  console.log(`PostgreSQL ${gateway.database?.version}; ${windows} windows.`)
  if (streamsAllowed() < STREAMS_MAX) {
    console.log(
      `The limit of open files (ulimit -Hn) lets a process carry ${streamsAllowed()} streams, not ${STREAMS_MAX}.`,
    )
  }
  printStreams(costs)
}

/**
 * Number of streams that a process may hold open, each with a socket on either side. Node has already raised its limit to
 * the hard limit.
 */
function streamsAllowed(): number {
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
async function measureStreams(targets: Pair<Target>, windows: number): Promise<StreamCosts[]> {
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
      await pause(WARM_UP_MS)
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
    await pause(WINDOW_MS)
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
    open: Math.min(streams.base.open, streams.tested.open),
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
  return { base: measure('base'), tested: measure('tested') }
}

function printStreams(costs: readonly StreamCosts[]): void {
  const rows = costs.flatMap(({ open, kilobytes, chunkCpuUs, chunksPerRead }) => {
    const streams = `${open.toLocaleString('en')} open`
    return [
      memoryRow(`memory a stream, ${streams}`, kilobytes),
      cpuRow(`CPU a chunk, ${streams}`, chunkCpuUs, CHUNK_CPU_RATIO_MAX),
      ['chunks a read', chunksPerRead.base.toFixed(2), chunksPerRead.tested.toFixed(2)],
    ]
  })
  const title = `streams open at once, ${TALKING} talking, chunks ${CHUNK_APART_MS} ms apart`
  printTable(`${title} | pass-through | gateway | ${COMPARED}`, rows)
}

function memoryRow(name: string, { base, tested }: Pair<number>): string[] {
  return [
    name,
    `${base.toFixed(1)} kB`,
    `${tested.toFixed(1)} kB`,
    `× ${(tested / base).toFixed(2)}`,
    ...goal(tested, STREAM_KILOBYTES_MAX, `${STREAM_KILOBYTES_MAX} kB`),
  ]
}
