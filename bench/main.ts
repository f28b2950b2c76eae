import { availableParallelism, cpus, platform } from 'node:os'
import { startChild } from './child.ts'
import { OTHER_CORE, pin, SERVER_CORE } from './cores.ts'
import { startGateway } from './gateway.ts'
import type { Target } from './load.ts'
import { measureRound, type Pair, type Round, warmUp } from './measure.ts'
import { measureStreams, STREAMS_MAX, streamsAllowed } from './measure-streams.ts'
import { median } from './quantile.ts'
import { callReport, streamReport } from './report.ts'
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.ts'

/**
 * `pnpm bench [--quick] [--calls | --streams]` measures what a call and an open stream cost in the gateway with all
 * features on, compared with a bare Node pass-through in the same run. It needs Linux, two cores and a PostgreSQL server
 * (`BENCH_DATABASE_URL`, `TEST_DATABASE_URL` or the local one).
 */
const isQuick = process.argv.includes('--quick')
const only = ['--calls', '--streams'].find((part) => process.argv.includes(part))
const ROUNDS = isQuick ? 2 : 7
const WINDOWS = isQuick ? 4 : 10
/** On a slow machine the bench runs fewer rounds instead of taking longer. */
const ROUNDS_WITHIN_MS = 110_000
const COMMITS = 200

const undo: (() => Promise<unknown>)[] = []
process.once('SIGINT', () => cleanUp().finally(() => process.exit(130)))
process.once('SIGTERM', () => cleanUp().finally(() => process.exit(143)))
try {
  await bench()
} finally {
  await cleanUp()
}

async function bench(): Promise<void> {
  if (platform() !== 'linux' || availableParallelism() < 2)
    throw new Error('the bench needs Linux and two cores')
  if (!pin(process.pid, OTHER_CORE)) throw new Error('the bench needs taskset')
  if (only !== '--streams') await onFreshServers(benchCalls)
  if (only !== '--calls') await onFreshServers(benchStreams)
}

interface Servers {
  readonly database: ScratchDatabase
  readonly targets: Pair<Target>
}

/** Client, platform, pass-through and gateway run in separate processes. */
async function onFreshServers(work: (servers: Servers) => Promise<void>): Promise<void> {
  const database = await createScratchDatabase()
  undo.push(database.drop)
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const child = await startChild('pass-through.ts', SERVER_CORE, `${mock.origin}/v1/chat/completions`)
  undo.push(child.stop)
  const gateway = await startGateway(database.url, mock.origin)
  undo.push(gateway.stop)
  const passThrough = { ...child, headers: { 'content-type': 'application/json' } }
  await work({ database, targets: { passThrough, gateway } })
  await cleanUp()
}

async function benchCalls({ database, targets }: Servers): Promise<void> {
  await warmUp(targets.passThrough)
  await warmUp(targets.gateway)
  await database.analyze()

  const rounds: Round[] = []
  const commitsMs: number[] = []
  let arePinned = true
  const deadlineMs = performance.now() + ROUNDS_WITHIN_MS
  while (rounds.length < ROUNDS && performance.now() < deadlineMs) {
    arePinned = (await database.pinSessions()) && arePinned
    rounds.push(await measureRound(targets))
    commitsMs.push(median(await database.commit(COMMITS)))
  }
  console.log(`${machine(database.version)}; ${rounds.length} rounds.`)
  if (!arePinned)
    console.log('The sessions of PostgreSQL could not be kept off the core of the server under test.')
  console.log(`\n${callReport({ rounds, commitsMs })}\n`)
}

async function benchStreams({ database, targets }: Servers): Promise<void> {
  await database.pinSessions()
  const costs = await measureStreams(targets, WINDOWS)
  console.log(`${machine(database.version)}; ${WINDOWS} windows.`)
  if (streamsAllowed() < STREAMS_MAX) {
    console.log(
      `The limit of open files (ulimit -Hn) lets a process carry ${streamsAllowed()} streams, not ${STREAMS_MAX}.`,
    )
  }
  console.log(`\n${streamReport(costs)}\n`)
}

function machine(postgresVersion: string): string {
  const [cpu] = cpus()
  return `${cpu?.model}, ${cpus().length} cores; Node ${process.versions.node}; PostgreSQL ${postgresVersion}`
}

async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}
