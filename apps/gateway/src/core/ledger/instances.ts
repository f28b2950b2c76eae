import type { LoadReader, ProcessLoad } from '#core/agents/deployments/load.ts'
import { readLoad, writeLoad } from '#core/agents/deployments/written-load.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { changes } from '#core/base/values/changes.ts'
import type { Sql } from '#core/database/database.ts'
import { isOlder, MIN_BUILD } from '#core/database/migrations/min-build.ts'
import type { ToldConfiguration } from './configuration-state.ts'
import type { ToldConcern } from './process-concerns.ts'

/** Who a process is, in its row of the database and in its log lines. */
export interface ProcessIdentity {
  /** The id of the instance. */
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
}

/** A process that ends what dead ones have left. */
export interface Reaper {
  /** Its own instance. */
  readonly id: string
  readonly leaseMs: number
}

/** The processes that share a database. They know each other through leases, which are measured by the database's clock. */
export type Instances = ReturnType<typeof createInstances>

export interface InstancesDeps {
  /** Runs the heartbeats, and nothing for which they would have to wait. */
  readonly sql: Sql
  /** Reads what the heartbeats do not; defaults to the same. */
  readonly readSql?: Sql
  /** Deletes the rows of processes that ended long ago; defaults to the same. */
  readonly upkeepSql?: Sql
  readonly runtime: Runtime
  readonly identity: ProcessIdentity
  /** Receives the number of live processes, including this one, as of the last heartbeat. */
  readonly processes?: { live: number } | undefined
  /** What each heartbeat reports to the other processes. */
  readonly load: LoadReader
  /** What each heartbeat reports of the configuration that this process serves. */
  readonly configuration?: (() => ToldConfiguration) | undefined
  /** What each heartbeat reports to be wrong with this process. */
  readonly concerns?: (() => readonly ToldConcern[]) | undefined
  /** The port on which this process serves requests, if it is known. */
  readonly port?: (() => number | undefined) | undefined
  /** The newest migration that this process knows. */
  readonly build: string
  readonly leaseMs: number
  /** How long the row of a process is kept after the process has ended. */
  readonly retentionDays: number
  /** Settles the calls that dead processes left open; returns how many. It may take any time. */
  reap(): Promise<number>
  readonly observer: {
    reaped(calls: number): void
    /** Called when the calls of dead processes cannot be settled, and when they can be again. */
    reapable(isReapable: boolean, error?: unknown): void
    /** Called when the lease cannot be renewed, and when it can be again. */
    renewable(isRenewable: boolean, error?: unknown): void
    /** The database needs this build, which is newer than that of the process; undefined when it does not any more. */
    needsBuild(minBuild: string | undefined): void
  }
}

export function createInstances({
  sql,
  readSql = sql,
  upkeepSql = sql,
  runtime,
  identity,
  processes = { live: 1 },
  load,
  configuration,
  concerns,
  port,
  build,
  leaseMs,
  retentionDays,
  reap,
  observer,
}: InstancesDeps) {
  const { id, host, pid, version } = identity
  let neededBuild: string | undefined
  let timer: NodeJS.Timeout | undefined
  let lastBeatMs = Number.NEGATIVE_INFINITY
  /** The start of the current unbroken run of heartbeats. */
  let connectedSinceMs = 0
  const renewable = changes(observer.renewable)
  const reapable = changes(observer.reapable)
  const reapAlone = onceAtATime(async () => {
    const reaped = await reap()
    if (reaped > 0) observer.reaped(reaped)
  })
  const readBuildAlone = onceAtATime(readBuild)

  async function beat(): Promise<void> {
    const told = writeLoad(load.load())
    const served = configuration === undefined ? null : JSON.stringify(configuration())
    const wrong = JSON.stringify(concerns?.() ?? [])
    const values = [id, leaseMs, build, host, pid, version, told, served, port?.() ?? null, wrong]
    const [row] = await sql.query<Beat>(BEAT, values)
    processes.live = Math.max(1, row?.live ?? 1)
    const nowMs = runtime.elapsedMs()
    // During a gap (an outage, a hanging statement, a suspended machine) every lease may have expired. The first process that
    // is back must give the others time to renew theirs before it treats them as dead.
    if (nowMs - lastBeatMs > leaseMs / 2) connectedSinceMs = nowMs
    lastBeatMs = nowMs
  }

  /** What follows a heartbeat, none of which the next one waits for: each may stand behind a lock. */
  function afterBeat(): void {
    readBuildAlone().catch(() => undefined)
    if (lastBeatMs - connectedSinceMs < leaseMs) return
    reapAlone().then(
      () => reapable(true),
      (error: unknown) => reapable(false, error),
    )
  }

  async function readBuild(): Promise<void> {
    const [row] = await readSql.query<{ min_build: string | null }>(LEAST_BUILD, [MIN_BUILD])
    judgeBuild(row?.min_build ?? undefined)
  }

  function judgeBuild(minBuild: string | undefined): void {
    const needed = minBuild !== undefined && isOlder(build, minBuild) ? minBuild : undefined
    if (needed === neededBuild) return
    neededBuild = needed
    observer.needsBuild(needed)
  }

  function schedule(afterMs: number): void {
    const again = (nextMs: number) => {
      if (timer !== undefined) schedule(nextMs)
    }
    timer = setTimeout(() => {
      beat().then(
        () => {
          renewable(true)
          afterBeat()
          again(leaseMs / BEATS)
        },
        (error: unknown) => {
          renewable(false, error)
          again(leaseMs / BEATS_AFTER_FAILURE)
        },
      )
    }, afterMs)
    timer.unref()
  }

  return {
    /** Registers this process and renews its lease from then on, whatever else waits in the database. */
    async join(): Promise<void> {
      await beat()
      await readBuild()
      if (timer === undefined) schedule(leaseMs / BEATS)
    },
    /** Tells the other processes at once what they would learn with the next heartbeat. */
    async tell(): Promise<void> {
      if (timer !== undefined) await beat()
    },
    /** The build that the database needs, if this process is older, as far as it could be read since the last heartbeat. */
    get neededBuild(): string | undefined {
      return neededBuild
    },
    /** Whether this process is one of them: the process of a command is not. */
    get hasJoined(): boolean {
      return timer !== undefined
    },
    /** What the live processes knew of their agents at their last heartbeats, the oldest process first; at most a thousand. */
    async loads(): Promise<ProcessLoad[]> {
      const rows = await readSql.query<LoadRow>(LOADS, [PROCESSES_MAX])
      return rows.map(({ load, ...process }) => ({ ...process, agents: readLoad(load) }))
    },
    /** Ends this process's lease and stops renewing it. */
    async leave(): Promise<void> {
      // A start that never reached the database has no lease to end.
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      await sql.query('UPDATE instances SET stopped_at = now() WHERE id = $1::uuid', [id])
    },
    /** Deletes a bounded number of rows of processes that ended long ago; returns how many. */
    async sweep(): Promise<number> {
      const rows = await upkeepSql.query(SWEEP, [retentionDays, SWEPT_AT_ONCE])
      return rows.length
    },
  }
}

/** Heartbeats in the time of a lease. After one that failed the next comes sooner, since the lease is running out. */
const BEATS = 3
const BEATS_AFTER_FAILURE = 15

/** Does nothing while the work of an earlier call of it is still going on. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= markRejectionHandled(
      work().finally(() => {
        running = undefined
      }),
    )
    return running
  }
}

const SWEPT_AT_ONCE = 1_000

/**
 * `$1` days, `$2` rows at most. A process that was killed counts as ended when its lease expires. Deleting its row loses no
 * calls: open calls of an instance without a row are settled like those of a dead one.
 */
const SWEEP = `
DELETE FROM instances
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM instances
  WHERE lease_until < now() - $1 * interval '1 day'
    AND (stopped_at IS NULL OR stopped_at < now() - $1 * interval '1 day')
  ORDER BY lease_until LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`

interface Beat {
  readonly live: number
}

/**
 * `$1`: this instance, `$2`: the lease in milliseconds, `$3`: its build, `$4` to `$6`: where it runs and its version, `$7`: what it
 * knows of its agents, `$8`: which configuration it serves, `$9`: its port, `$10`: what is wrong with it. It uses no other table,
 * whose locks it would have to wait for.
 */
const BEAT = `
WITH beat AS (
  INSERT INTO instances AS i (id, started_at, lease_until, build, host, pid, version, load, configuration, port, concerns)
  VALUES ($1::uuid, now(), now() + $2 * interval '1 millisecond', $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9, $10::jsonb)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, load = excluded.load,
    configuration = excluded.configuration, port = excluded.port, concerns = excluded.concerns
  RETURNING id
)
SELECT (SELECT count(*) FROM beat)
  + (SELECT count(*) FROM instances WHERE id <> $1::uuid AND stopped_at IS NULL AND lease_until > now()) AS live`

/** `$1`: the setting that has the least build. */
const LEAST_BUILD = 'SELECT (SELECT value FROM settings WHERE name = $1) AS min_build'

/** More processes than share any database. */
const PROCESSES_MAX = 1_000

type LoadRow = Omit<ProcessLoad, 'agents'> & { readonly load: unknown }

/** `$1` rows at most. */
const LOADS = `
SELECT id AS instance, host, pid, version, load
FROM instances
WHERE stopped_at IS NULL AND lease_until > now()
ORDER BY started_at, id LIMIT $1`
