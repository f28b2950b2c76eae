import type { Sql } from '#core/database/database.ts'
import type { Runtime } from '#core/runtime.ts'

/** The processes that share a database, known to each other by leases in database time. */
export interface Instances {
  /** Writes this instance down and renews its lease from then on. */
  join(): Promise<void>
  /** Live processes, this one among them, as the last beat saw it. */
  readonly live: number
  leave(): Promise<void>
  /** Deletes a bounded number of rows of processes that ended long ago; returns how many. */
  sweep(): Promise<number>
}

export interface InstancesDeps {
  readonly sql: Sql
  readonly runtime: Runtime
  readonly instanceId: string
  readonly leaseMs: number
  /** How long the row of a process that ended is kept. */
  readonly retentionDays: number
  /** Ends what dead instances left open. */
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
  /** Since when one beat has followed the other. */
  let connectedSinceMs = 0

  async function beat(): Promise<void> {
    const [row] = await sql.query<{ live: number }>(BEAT, [instanceId, leaseMs])
    live = Math.max(1, row?.live ?? 1)
    const nowMs = runtime.elapsedMs()
    // In a gap, be it an outage, a statement that hung or a machine that slept, every lease may have passed: whoever is
    // back first must give the others the time to renew theirs.
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
 * `$1` days, `$2` rows at most. A process that was killed ended with its lease. Open calls of an instance without a row are
 * settled like those of a dead one.
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
