import { GATEWAY } from '#core/audit/actor.ts'
import type { Sql } from '#core/database/database.ts'

/** Removes the records of keys that nobody can use any more. */
export interface KeySweep {
  /**
   * Goes on through all keys, a bounded number of them at a time. Of a key that was revoked or has expired for longer than the
   * retention, the files are deleted first, and the record in a later round, once they are gone.
   *
   * @returns how many keys were looked at; 0 at the end of a round
   */
  sweep(): Promise<number>
}

/** Each removed key is an event of the audit log, whose head is held until all of the statement are written. */
const KEYS_AT_ONCE = 200
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

export function createKeySweep({
  sql,
  retentionDays,
}: {
  readonly sql: Sql
  /** Records are kept for ever without it. */
  readonly retentionDays: number | undefined
}): KeySweep {
  let last = BEFORE_ALL
  return {
    async sweep() {
      if (retentionDays === undefined) return 0
      const doing = JSON.stringify({ ...GATEWAY, operation: 'keys.sweep' })
      const [portion] = await sql.query<Portion>(SWEEP, [last, KEYS_AT_ONCE, retentionDays, doing])
      last = portion?.last ?? BEFORE_ALL
      return portion?.keys ?? 0
    },
  }
}

interface Portion {
  readonly keys: number
  /** The greatest id; null if there are no further keys. */
  readonly last: string | null
}

/**
 * `$1`: the id after which the keys begin, `$2` keys at most, `$3`: the retention in days, `$4`: who does it, for the audit log.
 *
 * - The condition is checked again on the locked row, since the expiry of a key may have been postponed meanwhile. Keys that are
 *   locked wait for the next round.
 * - The owner of the sums of a key is recorded only with a row that was really deleted. A key that was never used has no sums.
 */
const SWEEP = `
WITH said AS MATERIALIZED (
  SELECT set_config('trunkline.doing', $4, true) AS mode
), portion AS MATERIALIZED (
  SELECT id, least(revoked_at, expires_at) < now() - $3::int8 * interval '1 day' AS is_due
  FROM api_keys WHERE id > $1::uuid ORDER BY id LIMIT $2
), due AS MATERIALIZED (
  SELECT locked.id, EXISTS (SELECT FROM uploads u WHERE u.key_id = locked.id) AS has_uploads
  FROM (SELECT id FROM portion WHERE is_due ORDER BY id) AS p
  CROSS JOIN LATERAL (
    SELECT id FROM api_keys k
    WHERE k.id = p.id AND least(k.revoked_at, k.expires_at) < now() - $3::int8 * interval '1 day'
    LIMIT 1 FOR UPDATE SKIP LOCKED) AS locked
), begun AS (
  UPDATE uploads SET deleted_at = clock_timestamp()
  WHERE deleted_at IS NULL AND key_id = ANY (ARRAY(SELECT id FROM due WHERE has_uploads))
), gone AS (
  DELETE FROM api_keys
  WHERE id = ANY (ARRAY(SELECT id FROM due WHERE NOT has_uploads)) AND (SELECT count(mode) FROM said) > 0
  RETURNING id, owner_id, total_calls
), noted AS (
  INSERT INTO removed_api_keys (id, owner_id) SELECT id, owner_id FROM gone WHERE total_calls > 0
  ON CONFLICT DO NOTHING
)
SELECT count(*)::int4 AS keys, (SELECT id::text FROM portion ORDER BY id DESC LIMIT 1) AS last FROM portion`
