import type { LoadReader, ProcessLoad } from '#core/agents/deployments/load.ts'
import { readLoad, writeLoad } from '#core/agents/deployments/written-load.ts'
import type { Sql } from '#core/database/database.ts'
import { isOlder, MIN_BUILD } from '#core/database/migrations/min-build.ts'
import type { Runtime } from '#core/runtime.ts'

/** Who a process is, in its row of the database and in its log lines. */
export interface ProcessIdentity {
  /** The id of the instance. */
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
}

/** The processes that share a database. They know each other through leases, which are measured by the database's clock. */
export interface Instances {
  /** Registers this process and renews its lease from then on. */
  join(): Promise<void>
  /** The number of live processes, including this one, as of the last heartbeat. */
  readonly live: number
  /** The build that the database needs, if this process is older, as of the last heartbeat. */
  readonly neededBuild: string | undefined
  /** Whether this process is one of them: the process of a command is not. */
  readonly hasJoined: boolean
  /** What the live processes knew of their agents at their last heartbeats, the oldest process first; at most a thousand. */
  loads(): Promise<ProcessLoad[]>
  /** Ends this process's lease and stops renewing it. */
  leave(): Promise<void>
  /** Deletes a bounded number of rows of processes that ended long ago; returns how many. */
  sweep(): Promise<number>
}

export interface InstancesDeps {
  readonly sql: Sql
  readonly runtime: Runtime
  readonly identity: ProcessIdentity
  /** What each heartbeat tells the other processes. */
  readonly load: LoadReader
  /** The newest migration that this process knows. */
  readonly build: string
  readonly leaseMs: number
  /** How long the row of a process is kept after the process has ended. */
  readonly retentionDays: number
  /** Settles the calls that dead processes left open; returns how many. */
  reap(): Promise<number>
  readonly observer: {
    reaped(calls: number): void
    /** Called when the lease cannot be renewed, and when it can be again. */
    renewable(isRenewable: boolean, error?: unknown): void
    /** The database needs this build, which is newer than that of the process; undefined when it does not any more. */
    needsBuild(minBuild: string | undefined): void
  }
}

export function createInstances({
  sql,
  runtime,
  identity,
  load,
  build,
  leaseMs,
  retentionDays,
  reap,
  observer,
}: InstancesDeps): Instances {
  const { id, host, pid, version } = identity
  let live = 1
  let neededBuild: string | undefined
  let timer: NodeJS.Timeout | undefined
  let lastBeatMs = Number.NEGATIVE_INFINITY
  /** The start of the current unbroken run of heartbeats. */
  let connectedSinceMs = 0
  let isRenewable = true

  async function beat(): Promise<void> {
    const told = writeLoad(load.load())
    const [row] = await sql.query<Beat>(BEAT, [id, leaseMs, build, MIN_BUILD, host, pid, version, told])
    live = Math.max(1, row?.live ?? 1)
    judgeBuild(row?.min_build ?? undefined)
    const nowMs = runtime.elapsedMs()
    // During a gap (an outage, a hanging statement, a suspended machine) every lease may have expired. The first process that
    // is back must give the others time to renew theirs before it treats them as dead.
    if (nowMs - lastBeatMs > leaseMs / 2) connectedSinceMs = nowMs
    lastBeatMs = nowMs
    if (nowMs - connectedSinceMs < leaseMs) return
    const reaped = await reap()
    if (reaped > 0) observer.reaped(reaped)
  }

  function judgeBuild(minBuild: string | undefined): void {
    const needed = minBuild !== undefined && isOlder(build, minBuild) ? minBuild : undefined
    if (needed === neededBuild) return
    neededBuild = needed
    observer.needsBuild(needed)
  }

  function setRenewable(now: boolean, error?: unknown): void {
    if (now !== isRenewable) observer.renewable(now, error)
    isRenewable = now
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      beat()
        .then(
          () => setRenewable(true),
          (error: unknown) => setRenewable(false, error),
        )
        .then(again, again)
    }, leaseMs / 3)
    timer.unref()
  }

  return {
    async join() {
      await beat()
      if (timer === undefined) schedule()
    },
    get live() {
      return live
    },
    get neededBuild() {
      return neededBuild
    },
    get hasJoined() {
      return timer !== undefined
    },
    async loads() {
      const rows = await sql.query<LoadRow>(LOADS, [PROCESSES_MAX])
      return rows.map(({ load, ...process }) => ({ ...process, agents: readLoad(load) }))
    },
    async leave() {
      // A start that never reached the database has no lease to end.
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      await sql.query('UPDATE instances SET stopped_at = now() WHERE id = $1::uuid', [id])
    },
    async sweep() {
      const rows = await sql.query(SWEEP, [retentionDays, SWEPT_AT_ONCE])
      return rows.length
    },
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
  readonly min_build: string | null
}

/**
 * `$1`: this instance, `$2`: the lease in milliseconds, `$3`: its build, `$4`: the setting that has the least build, `$5` to
 * `$7`: where it runs and its version, `$8`: what it knows of its agents.
 */
const BEAT = `
WITH beat AS (
  INSERT INTO instances AS i (id, started_at, lease_until, build, host, pid, version, load)
  VALUES ($1::uuid, now(), now() + $2 * interval '1 millisecond', $3, $5, $6, $7, $8::jsonb)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, load = excluded.load
  RETURNING id
)
SELECT (SELECT count(*) FROM beat)
  + (SELECT count(*) FROM instances WHERE id <> $1::uuid AND stopped_at IS NULL AND lease_until > now()) AS live,
  (SELECT value FROM settings WHERE name = $4) AS min_build`

/** More processes than share any database. */
const PROCESSES_MAX = 1_000

type LoadRow = Omit<ProcessLoad, 'agents'> & { readonly load: unknown }

/** `$1` rows at most. */
const LOADS = `
SELECT id AS instance, host, pid, version, load
FROM instances
WHERE stopped_at IS NULL AND lease_until > now()
ORDER BY started_at, id LIMIT $1`
