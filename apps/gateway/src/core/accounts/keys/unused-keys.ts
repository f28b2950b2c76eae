import { GATEWAY } from '#core/audit/actor.ts'
import type { Sql } from '#core/database/database.ts'

export type UnusedKeys = ReturnType<typeof createUnusedKeys>

/** Each revoked key is an event of the audit log, whose head is held until all of the statement are written. */
const KEYS_AT_ONCE = 200

/** @param unusedDays - the days without use after which a key is revoked; undefined to revoke none */
export function createUnusedKeys(sql: Sql, unusedDays: number | undefined) {
  const doing = JSON.stringify({ ...GATEWAY, operation: 'keys.revokeUnused' })
  return {
    /** Revokes a bounded number of unused keys; returns how many there were. */
    async revokeUnused(): Promise<number> {
      return unusedDays === undefined
        ? 0
        : (await sql.query(REVOKE, [KEYS_AT_ONCE, unusedDays, doing])).length
    },
  }
}

/**
 * `$1` keys at most, `$2`: the days, `$3`: who does it, for the audit log.
 *
 * - A key that was made, rotated, bound to addresses or resumed lately is about to be used; one that is paused is kept on purpose.
 * - The first condition is for the index. All are checked again on the locked row, so that a key that is used meanwhile stays.
 */
const REVOKE = `
WITH said AS MATERIALIZED (
  SELECT set_config('trunkline.doing', $3, true) AS mode
), due AS MATERIALIZED (
  SELECT id FROM api_keys
  WHERE day_start < now() - $2::int8 * interval '1 day'
    AND greatest(created_at, last_used_at, rotated_at, restricted_at) < now() - $2::int8 * interval '1 day'
    AND revoked_at IS NULL AND expires_at > now() AND paused_at IS NULL
  ORDER BY day_start LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE api_keys SET revoked_at = clock_timestamp()
WHERE id = ANY (ARRAY(SELECT id FROM due)) AND (SELECT count(mode) FROM said) > 0
RETURNING 1`
