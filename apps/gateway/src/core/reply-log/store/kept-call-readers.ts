import type { Sql } from '#core/database/database.ts'
import { GIVEN, inPortions } from './given-calls.ts'

/** Which kept calls have readers in some process. One that nobody reads any more may be ended by the process that runs it. */
export type KeptCallReaders = ReturnType<typeof createKeptCallReaders>

export function createKeptCallReaders(sql: Sql) {
  return {
    /** Notes that these calls have readers, for so long from now by the database's clock. */
    async holdReading(callIds: readonly string[], forMs: number): Promise<void> {
      await inPortions(callIds, (ids) => sql.query(HOLD_READING, [ids, forMs]))
    },
    /** Those of these calls that have readers in some process. */
    async haveReaders(callIds: readonly string[]): Promise<readonly string[]> {
      const rows = await inPortions(callIds, (ids) =>
        sql.query<{ readonly call_id: string }>(HAVE_READERS, [ids]),
      )
      return rows.map(({ call_id }) => call_id)
    },
  }
}

/**
 * `$1` calls, `$2` milliseconds. Rows are locked in the order of their ids, as by every statement that changes several of them.
 * The commit does not wait for the disk, because readers come again soon.
 */
const HOLD_READING = `
WITH quick AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true) AS mode
), known AS MATERIALIZED (
  SELECT k.call_id, k.ended_at
  FROM (SELECT id FROM unnest($1::uuid[]) AS id WHERE (SELECT count(mode) FROM quick) > 0 ORDER BY id) AS ordered
  CROSS JOIN LATERAL (
    SELECT call_id, ended_at FROM kept_calls WHERE call_id = ordered.id LIMIT 1
    FOR NO KEY UPDATE) AS k
)
UPDATE kept_calls k SET read_until = greatest(k.read_until, now() + $2 * interval '1 millisecond')
FROM known WHERE known.ended_at IS NULL AND k.call_id = known.call_id`

/** `$1` calls. */
const HAVE_READERS = `SELECT k.call_id ${GIVEN} WHERE k.read_until > now()`
