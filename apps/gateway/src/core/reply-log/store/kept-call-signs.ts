import type { Sql } from '#core/database/database.ts'
import type { ReplyStore } from './reply-store.ts'

/** What processes tell each other about kept calls, beside their logs. */
export type KeptCallSigns = Pick<
  ReplyStore,
  'requestStop' | 'stopped' | 'holdReading' | 'haveReaders' | 'remove' | 'countReplays'
>

const CALLS_AT_ONCE = 1_000

export function createKeptCallSigns(sql: Sql): KeptCallSigns {
  return {
    async requestStop(callId) {
      await sql.query(REQUEST_STOP, [callId])
    },
    async stopped(callIds) {
      const rows = await inPortions(callIds, (ids) => sql.query<StoppedRow>(STOPPED, [ids]))
      return rows.map(({ call_id, is_ended }) => ({ callId: call_id, isEnded: is_ended }))
    },
    async holdReading(callIds, forMs) {
      await inPortions(callIds, (ids) => sql.query(HOLD_READING, [ids, forMs]))
    },
    async haveReaders(callIds) {
      const rows = await inPortions(callIds, (ids) =>
        sql.query<{ readonly call_id: string }>(HAVE_READERS, [ids]),
      )
      return rows.map(({ call_id }) => call_id)
    },
    async remove(callId) {
      await sql.query(REMOVE, [callId])
    },
    async countReplays(counts) {
      await inPortions([...counts], (some) =>
        sql.query(COUNT_REPLAYS, [some.map(([id]) => id), some.map(([, count]) => count)]),
      )
    },
  }
}

/** Runs a statement for as many items at a time as it takes. */
async function inPortions<Item, Row>(
  items: readonly Item[],
  run: (some: readonly Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < items.length; at += CALLS_AT_ONCE)
    rows.push(...(await run(items.slice(at, at + CALLS_AT_ONCE))))
  return rows
}

interface StoppedRow {
  readonly call_id: string
  readonly is_ended: boolean
}

/** `$1` call. */
const REQUEST_STOP = `
UPDATE kept_calls SET stop_requested_at = now()
WHERE call_id = $1::uuid AND ended_at IS NULL AND stop_requested_at IS NULL`

/** The calls of `$1`, each looked up by its index because of the limit, whatever the planner knows of the table. */
const GIVEN = `
FROM unnest($1::uuid[]) AS given(id)
CROSS JOIN LATERAL (SELECT * FROM kept_calls WHERE call_id = given.id LIMIT 1) AS k`

/** `$1` calls. */
const STOPPED = `
SELECT k.call_id, k.ended_at IS NOT NULL AS is_ended ${GIVEN}
WHERE k.ended_at IS NOT NULL OR k.stop_requested_at IS NOT NULL`

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

/** `$1` call. */
const REMOVE = `
WITH removed AS (
  UPDATE kept_calls SET gone_at = coalesce(gone_at, now()), reply = NULL, bytes = 0
  WHERE call_id = $1::uuid AND ended_at IS NOT NULL
  RETURNING call_id
)
DELETE FROM reply_parts WHERE call_id IN (SELECT call_id FROM removed)`

/** `$1` calls, `$2` how many replays of each. Rows of the ledger are locked in the order of their ids. */
const COUNT_REPLAYS = `
WITH replayed AS MATERIALIZED (
  SELECT id FROM calls WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE calls c SET replays = c.replays + g.replays
FROM unnest($1::uuid[], $2::int4[]) AS g(id, replays)
WHERE c.id = ANY (ARRAY(SELECT id FROM replayed)) AND c.id = g.id`
