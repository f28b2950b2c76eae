import { atMost } from '#core/base/async/at-most.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { Sql } from '#core/database/database.ts'

/** Whether the last use of the secret by which `KEYS_OF_SECRETS` has found the key `k` is older than a minute, or is not known. */
export const IS_USE_DUE = `
  coalesce(CASE WHEN k.is_previous THEN k.previous_used_at ELSE k.secret_used_at END < now() - interval '1 minute', true)`

/** How long a request waits for its use to be recorded: for a database that hangs, or a table that is locked. */
const WAITS_MS = 250
const TRIES_MAX = 5
const PAUSE_MS = 20

/**
 * Records uses of secrets by requests that are no calls, which the admission records. A caller waits for it, so that a rotation knows
 * of a use before the secret is relied on, but not for long, and no request fails by it.
 *
 * @param sql - must be on another connection than the look-up of keys, since a lock of the table holds it up
 * @returns a function that takes the hash of the secret, in hex
 */
export function createKeyUses(sql: Sql): (hash: string) => Promise<void> {
  const record = createBatcher<string, boolean>(
    async (hashes) => {
      const rows = await sql.query<{ hashes: string[] }>(RECORD_USES, [JSON.stringify(hashes)])
      const recorded = new Set(rows.flatMap((row) => row.hashes))
      return hashes.map((hash) => recorded.has(hash))
    },
    { sizeMax: 256, isShared: () => true },
  )
  /** A row is locked for a moment by each call of its key, which may be one with the other secret. */
  async function untilRecorded(hash: string): Promise<void> {
    for (let tries = 1; !(await record(hash)) && tries < TRIES_MAX; tries += 1) await sleep(PAUSE_MS)
  }
  // What has failed, the next request tries again.
  return (hash) =>
    atMost(
      WAITS_MS,
      untilRecorded(hash).catch(() => undefined),
    )
}

/**
 * `$1`: a JSON array of hashes of secrets. Rows that are locked are left out, since their holder may be a stranger. The day becomes that of the use, with no calls, because long unused keys are found by it.
 */
const RECORD_USES = `
WITH used AS MATERIALIZED (
  SELECT decode(value, 'hex') AS secret FROM json_array_elements_text($1::json)
), free AS MATERIALIZED (
  SELECT id FROM api_keys
  WHERE hash = ANY (ARRAY(SELECT secret FROM used)) OR previous_hash = ANY (ARRAY(SELECT secret FROM used))
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), clock AS MATERIALIZED (
  SELECT clock_timestamp() AS at, date_trunc('day', clock_timestamp(), 'UTC') AS day WHERE (SELECT count(*) FROM free) > 0
)
UPDATE api_keys k SET
  last_used_at = greatest(k.last_used_at, c.at),
  secret_used_at = CASE WHEN k.hash IN (SELECT secret FROM used) THEN c.at ELSE k.secret_used_at END,
  previous_used_at = CASE WHEN k.previous_hash IN (SELECT secret FROM used) THEN c.at ELSE k.previous_used_at END,
  day_calls = CASE WHEN k.day_start >= c.day THEN k.day_calls ELSE 0 END,
  day_start = greatest(k.day_start, c.day)
FROM clock c
WHERE k.id = ANY (ARRAY(SELECT id FROM free))
RETURNING ARRAY[encode(k.hash, 'hex'), encode(k.previous_hash, 'hex')] AS hashes`
