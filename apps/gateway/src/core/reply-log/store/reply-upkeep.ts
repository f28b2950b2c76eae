import type { Sql } from '#core/database/database.ts'
import type { Reaper } from '#core/ledger/instances.ts'
import { isOfDeadInstance } from '#core/ledger/settle-dead-instances-sql.ts'
import type { KeptProblem } from '../kept-call.ts'

/** The bounds of what is kept. */
export interface KeptBounds {
  readonly retentionHours: number
  readonly bytesPerOwnerMax: number
  readonly bytesTotalMax: number
}

/** The upkeep of calls whose process has ended, and of kept replies. */
export type ReplyUpkeep = ReturnType<typeof createReplyUpkeep>

const ENDED_AT_ONCE = 500
/** Fewer, because all parts of each are deleted with it. */
const DELETED_AT_ONCE = 100

const INTERRUPTED: KeptProblem = { reason: 'interrupted' }

export function createReplyUpkeep(sql: Sql, bounds: KeptBounds) {
  const { bytesPerOwnerMax, bytesTotalMax } = bounds

  /**
   * Deletes the oldest replies, of one owner or of all, until they take so much less.
   *
   * @returns how much less they take
   */
  async function evict(bytes: number, ownerId: string | null): Promise<number> {
    let freed = 0
    while (freed < bytes) {
      const evicted = await sql.query<{ readonly bytes: number }>(EVICT, [bytes - freed, ownerId])
      if (evicted.length === 0) break
      freed += evicted.reduce((sum, row) => sum + row.bytes, 0)
    }
    return freed
  }

  return {
    /** Ends as interrupted the replies of a bounded number of calls whose process is dead, as this one sees it; returns how many. */
    async endDead({ id, leaseMs }: Reaper): Promise<number> {
      return (await sql.query(END_DEAD, [JSON.stringify(INTERRUPTED), id, leaseMs])).length
    },
    /** The same for all calls of other processes, for a process that is the only one of its database. */
    async endPredecessors(instanceId: string): Promise<number> {
      return (await sql.query(END_PREDECESSORS, [JSON.stringify(INTERRUPTED), instanceId])).length
    },
    /** Deletes a bounded number of calls whose retention is over, with their logs and keys; returns how many. */
    async sweep(): Promise<number> {
      return (await sql.query(SWEEP, [bounds.retentionHours])).length
    },
    /**
     * Deletes the oldest ended replies of owners, and of all, that take more than they may. Running calls count as well.
     *
     * @returns whether running and new ones leave no room, for all or for these owners
     */
    async makeRoom(): Promise<{ readonly isFull: boolean; readonly fullOwners: readonly string[] }> {
      const [taken] = await sql.query<TakenRow>(TAKEN, [
        Math.min(bytesPerOwnerMax, bytesTotalMax),
        bytesPerOwnerMax,
      ])
      let total = taken?.total ?? 0
      const fullOwners: string[] = []
      for (const [ownerId, bytes] of taken?.owners ?? []) {
        const tooMuch = bytes - bytesPerOwnerMax
        const freed = await evict(tooMuch, ownerId)
        total -= freed
        if (freed < tooMuch) fullOwners.push(ownerId)
      }
      total -= await evict(total - bytesTotalMax, null)
      return { isFull: total > bytesTotalMax, fullOwners }
    },
  }
}

/** The owners that take more than they may, and what they take. */
interface TakenRow {
  readonly total: number
  readonly owners: readonly (readonly [ownerId: string, bytes: number])[]
}

/*
 * Without statistics, as in an embedded database, the planner takes the first part of each of these statements for one or two
 * rows: few columns are null, and a range with two ends is a small one. It then finds all other rows by their indexes.
 */

/**
 * Ends as interrupted a bounded number of running calls that match the condition `open`. `$1`: their problem.
 *
 * The last event that counts is the one before the first gap. Up to there, a part begins with the number of events before it
 * plus one; behind a gap no part does. What is stored behind it is not read, and is deleted with the call.
 */
const interrupt = (open: string) => `
WITH open AS MATERIALIZED (
  SELECT k.call_id FROM kept_calls k
  WHERE k.ended_at IS NULL AND ${open}
  ORDER BY k.call_id LIMIT ${ENDED_AT_ONCE}
  FOR NO KEY UPDATE SKIP LOCKED
), summed AS MATERIALIZED (
  SELECT o.call_id, s.events, s.bytes
  FROM open o CROSS JOIN LATERAL (
    SELECT coalesce(sum(count) FILTER (WHERE first = 1 + events_before), 0) AS events,
      coalesce(sum(octet_length(bytes)), 0) AS bytes
    FROM (
      SELECT first, count, bytes, sum(count) OVER (ORDER BY first) - count AS events_before
      FROM reply_parts p WHERE p.call_id = o.call_id) AS each_part) AS s
)
UPDATE kept_calls k
SET ended_at = now(), outcome = 'interrupted', events = s.events, problem = $1,
  bytes = CASE WHEN k.gone_at IS NULL THEN s.bytes ELSE 0 END
FROM summed s
WHERE k.call_id = s.call_id
RETURNING k.call_id`

/** `$2`: this instance, `$3`: the lease in milliseconds. */
const END_DEAD = interrupt(isOfDeadInstance('k', { reaper: '$2', leaseMs: '$3' }))

/** `$2`: this instance. */
const END_PREDECESSORS = interrupt('k.instance <> $2::uuid')

/**
 * `$1` hours. Replicas that sweep at the same time skip the calls that the other has locked. A call is deleted in the same
 * statement as its parts and its `Idempotency-Key`, so none is left without its call. A key that stands for a later call stays.
 */
const SWEEP = `
WITH expired AS MATERIALIZED (
  SELECT call_id, key_id, key_hash FROM kept_calls
  WHERE ended_at > '-infinity' AND ended_at < now() - $1 * interval '1 hour'
  ORDER BY ended_at LIMIT ${DELETED_AT_ONCE}
  FOR UPDATE SKIP LOCKED
), parts AS (
  DELETE FROM reply_parts p USING expired e WHERE p.call_id = e.call_id
), keys AS MATERIALIZED (
  SELECT i.key_id, i.hash, i.call_id
  FROM (SELECT * FROM expired ORDER BY key_id, key_hash) AS e
  CROSS JOIN LATERAL (
    SELECT key_id, hash, call_id FROM idempotency_keys
    WHERE key_id = e.key_id AND hash = e.key_hash AND call_id = e.call_id LIMIT 1
    FOR UPDATE) AS i
), freed AS (
  DELETE FROM idempotency_keys i USING keys k
  WHERE i.key_id = k.key_id AND i.hash = k.hash AND i.call_id = k.call_id
)
DELETE FROM kept_calls k USING expired e WHERE k.call_id = e.call_id
RETURNING k.call_id`

/**
 * `$1` the least of the bounds, `$2` that of an owner. What takes less on the disk takes less in bytes, so nothing is read below
 * the least bound. Above it, the sums of ended calls are read from an index; those of running calls, which are few, from
 * their parts.
 */
const TAKEN = `
SELECT coalesce(sum(bytes), 0)::int8 AS total,
  coalesce(json_agg(json_build_array(owner_id, bytes)) FILTER (WHERE bytes > $2::int8), '[]') AS owners
FROM (
  SELECT owner_id, sum(bytes) AS bytes
  FROM (
    SELECT owner_id, bytes FROM kept_calls WHERE ended_at IS NOT NULL AND gone_at IS NULL
    UNION ALL
    SELECT k.owner_id, p.bytes
    FROM kept_calls k CROSS JOIN LATERAL (
      SELECT sum(octet_length(bytes)) AS bytes FROM reply_parts WHERE call_id = k.call_id OFFSET 0) AS p
    WHERE k.ended_at IS NULL AND k.gone_at IS NULL) AS each_call
  WHERE (SELECT pg_total_relation_size('kept_calls') + pg_total_relation_size('reply_parts')) > $1::int8
  GROUP BY owner_id) AS each_owner`

/**
 * `$1` bytes, `$2` owner, or null for all. Deletes a bounded number of the oldest replies, as many as it takes to get so many
 * bytes. Their calls stay until their retention is over, so that their `Idempotency-Key` is not free.
 */
const EVICT = `
WITH oldest AS MATERIALIZED (
  SELECT call_id, bytes, sum(bytes) OVER (ORDER BY ended_at, call_id) - bytes AS bytes_before
  FROM (
    SELECT call_id, bytes, ended_at FROM kept_calls
    WHERE ended_at IS NOT NULL AND gone_at IS NULL AND bytes > 0 AND ($2::uuid IS NULL OR owner_id = $2::uuid)
    ORDER BY ended_at, call_id LIMIT ${DELETED_AT_ONCE}
    FOR NO KEY UPDATE SKIP LOCKED) AS stored
), evicted AS MATERIALIZED (
  SELECT call_id, bytes FROM oldest WHERE bytes_before < $1::int8
), parts AS (
  DELETE FROM reply_parts p USING evicted e WHERE p.call_id = e.call_id
)
UPDATE kept_calls k SET gone_at = now(), reply = NULL, bytes = 0
FROM evicted e
WHERE k.call_id = e.call_id
RETURNING e.bytes`
