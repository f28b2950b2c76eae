import type { Sql } from '#core/database/database.ts'

/** A pause whose answer was begun by a process that has died since. */
const CLAIMED_DAYS = 1
const SWEPT_AT_ONCE = 1_000

/**
 * Deletes a bounded number of the pauses that were not answered within the retention, and returns how many. An expired pause is kept
 * as long as the others, so that a late answer is refused as one. Their runs wait at the platform until it ends them.
 *
 * @param retentionDays - how long a pause is kept
 */
export async function sweepUnanswered(sql: Sql, retentionDays: number): Promise<number> {
  return (await sql.query(SWEEP, [retentionDays, CLAIMED_DAYS, SWEPT_AT_ONCE])).length
}

/** `$1`: days of a pause without an end, `$2`: days of a claim, `$3` rows at most. */
const SWEEP = `
DELETE FROM pauses WHERE id IN (
  SELECT id FROM pauses
  WHERE created_at < now() - $1 * interval '1 day'
    OR (claimed_by IS NOT NULL AND claimed_at < now() - $2 * interval '1 day')
  LIMIT $3)
RETURNING id`
