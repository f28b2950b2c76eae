import { availableParallelism, cpus, platform } from 'node:os'
import { startChild } from './child.ts'
import { OTHER_CORE, pin, SERVER_CORE } from './cores.ts'
import { startGateway } from './gateway.ts'
import { measureRound, measureStreamKib, type Round, warmUp } from './measure.ts'
import { median } from './quantile.ts'
import { report } from './report.ts'
import { createScratchDatabase } from './scratch-database.ts'

/**
 * `pnpm bench [--quick]`: what a call costs in the gateway with everything on, beside a bare Node pass-through in the
 * same run. Linux, two cores, and a PostgreSQL server (`BENCH_DATABASE_URL`, `TEST_DATABASE_URL`, else the local one).
 */
const ROUNDS = process.argv.includes('--quick') ? 2 : 7
/** On a slow machine the rounds are cut short rather than the patience. */
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

  const database = await createScratchDatabase()
  undo.push(database.drop)
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const child = await startChild('pass-through.ts', SERVER_CORE, `${mock.origin}/v1/chat/completions`)
  undo.push(child.stop)
  const gateway = await startGateway(database.url, mock.origin)
  undo.push(gateway.stop)
  const targets = { passThrough: { ...child, headers: { 'content-type': 'application/json' } }, gateway }

  const streamKib = await measureStreamKib(targets)
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
  console.log(`\n${report({ rounds, streamKib, commitsMs })}`)
}

function machine(postgresVersion: string): string {
  const [cpu] = cpus()
  return `${cpu?.model}, ${cpus().length} cores; Node ${process.versions.node}; PostgreSQL ${postgresVersion}`
}

async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}
