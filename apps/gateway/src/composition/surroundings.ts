import type { Logger } from 'pino'
import type { Config } from '#config/load.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { changes } from '#core/base/values/changes.ts'
import type { Database } from '#core/database/database.ts'
import { createDatabaseClock, type DatabaseClock } from '#core/database/database-clock.ts'
import { ownBuild } from '#core/database/migrations/min-build.ts'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { createDiskWatch, type DiskWatch } from '#ops/disk-watch.ts'
import { logChanges } from '#ops/log-changes.ts'
import { createMetrics, type Metrics } from '#ops/metrics/metrics.ts'
import type { Tracing, TracingSettings } from '#ops/tracing/create-tracing.ts'

/** What comes from outside the process. */
export interface ProcessDeps {
  readonly config: Config
  readonly database: Database
  /** Its clock is that of the machine. */
  readonly runtime: Runtime
  readonly log: Logger
  readonly identity: ProcessIdentity
  /** How calls are traced; by default not at all, since the process of a command serves none. */
  readonly tracing?: TracingSettings | undefined
}

/** What every room may need, and who watches the process: its clock, its metrics, its traces and its disk. */
export interface Surroundings extends Omit<ProcessDeps, 'tracing'> {
  readonly clock: DatabaseClock
  readonly metrics: Metrics
  /** Absent where nothing is traced. */
  readonly tracing: Tracing | undefined
  readonly disk: DiskWatch
  /** The newest migration that this version knows. */
  readonly build: string
}

export async function buildSurroundings(deps: ProcessDeps): Promise<Surroundings> {
  const { database, log, identity } = deps
  // The rooms read the limits at each use, and a reload changes this copy in place.
  const config = { ...deps.config, limits: { ...deps.config.limits } }
  const clock = createDatabaseClock(database.lanes.upkeep, deps.runtime)
  const { runtime } = clock
  const metrics = createMetrics()
  metrics.watchLanes(database.connections)
  const disk = createDiskWatch({ config, database, runtime, metrics, log })
  const tracing = await traceCalls(deps, metrics)
  return { config, database, log, identity, runtime, clock, metrics, tracing, disk, build: await ownBuild() }
}

async function traceCalls(
  { tracing, identity, log }: ProcessDeps,
  metrics: Metrics,
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined
  // What it needs takes 26 MB and a tenth of a second.
  const { createTracing } = await import('#ops/tracing/create-tracing.ts')
  return createTracing(tracing, {
    identity,
    dropped: metrics.spansDropped,
    sent: changes(
      logChanges(
        log,
        'the collector takes traces again',
        'the collector does not take traces: they are dropped',
      ),
    ),
  })
}
