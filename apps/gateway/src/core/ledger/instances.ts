import type { Sql } from '#core/database/database.ts'
import type { Runtime } from '#core/runtime.ts'

/** The processes that share a database. They know each other through leases, which are measured by the database's clock. */
export interface Instances {
  /** Registers this process and renews its lease from then on. */
  join(): Promise<void>
  /** The number of live processes, including this one, as of the last heartbeat. */
  readonly live: number
  /** Ends this process's lease and stops renewing it. */
  leave(): Promise<void>
  /** Deletes a bounded number of rows of processes that ended long ago; returns how many. */
  sweep(): Promise<number>
}

export interface InstancesDeps {
  readonly sql: Sql
  readonly runtime: Runtime
  readonly instanceId: string
  readonly leaseMs: number
  /** How long the row of a process is kept after the process has ended. */
  readonly retentionDays: number
  /** Settles the calls that dead processes left open; returns how many. */
  reap(): Promise<number>
  readonly observer: { reaped(calls: number): void; failed(error: unknown): void }
}

export function createInstances({
  sql,
  runtime,
  instanceId,
  leaseMs,
  retentionDays,
  reap,
  observer,
}: InstancesDeps): Instances {
  let live = 1
  let timer: NodeJS.Timeout | undefined
  let lastBeatMs = Number.NEGATIVE_INFINITY
  /** The start of the current unbroken run of heartbeats. */
  let connectedSinceMs = 0

  async function beat(): Promise<void> {
    const [row] = await sql.query<{ live: number }>(BEAT, [instanceId, leaseMs])
    live = Math.max(1, row?.live ?? 1)
    const nowMs = runtime.elapsedMs()
    // During a gap (an outage, a hanging statement, a suspended machine) every lease may have expired. The first process that
    // is back must give the others time to renew theirs before it treats them as dead.
    if (nowMs - lastBeatMs > leaseMs / 2) connectedSinceMs = nowMs
    lastBeatMs = nowMs
    if (nowMs - connectedSinceMs < leaseMs) return
    const reaped = await reap()
    if (reaped > 0) observer.reaped(reaped)
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      beat().catch(observer.failed).then(again, again)
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
    async leave() {
      clearTimeout(timer)
      timer = undefined
      await sql.query('UPDATE instances SET stopped_at = now() WHERE id = $1::uuid', [instanceId])
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

/** `$1`: this instance, `$2`: the lease in milliseconds. */
const BEAT = `
WITH beat AS (
  INSERT INTO instances AS i (id, started_at, lease_until)
  VALUES ($1::uuid, now(), now() + $2 * interval '1 millisecond')
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
  RETURNING id
)
SELECT (SELECT count(*) FROM beat)
  + (SELECT count(*) FROM instances WHERE id <> $1::uuid AND stopped_at IS NULL AND lease_until > now()) AS live`
