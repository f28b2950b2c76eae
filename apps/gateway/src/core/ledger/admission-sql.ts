import { ADDRESS_DENIED } from '#core/requests/allowed-addresses.ts'
import { GENERATION_REFUSAL, generationOf } from './generations-sql.ts'
import { openPauseOf, PAUSE_ANSWER, PAUSE_REFUSAL } from './pause-claims-sql.ts'

/** The fields of an admission that every statement reads. */
export const ADMISSION_COLUMNS = `id uuid, request_id text, key_id uuid, secret bytea, address text, permission text, kind text, face text,
    agent text, app text, end_user text, conversation text, answers uuid, claims uuid`

/** The start of the owner's quota period at the owner's current time `m`. */
const PERIOD_START = `CASE quota_period WHEN 'day' THEN m.day WHEN 'month' THEN m.month
      ELSE '1970-01-01 00:00:00+00'::timestamptz END AS period_start`

const USED = 'CASE WHEN quota_start >= period_start THEN api_calls_count ELSE 0 END'

/** What is read of the locked row of a key to judge a call. */
export const JUDGED_KEY = `k.permissions, k.allowed_agents, k.allowed_addresses, k.expires_at, k.revoked_at, k.paused_at, k.hash,
    k.previous_hash, k.previous_ends_at, k.day_start`

/**
 * The reason to reject a call of a known key, apart from its quota. Both secrets of a key are found by its id, so that a rotation which
 * was committed since the key was looked up decides. The rule about allowed agents is the same as that of
 * `isAllowedApp` in `agents/allowed-agents.ts`. An upload may name no agent, and never names an app, so a key for some
 * apps of an agent may upload for that agent.
 */
export const REFUSAL = `
      WHEN revoked_at IS NOT NULL THEN 'key_revoked'
      WHEN secret <> hash AND (secret = previous_hash AND previous_ends_at > m.clock) IS NOT TRUE THEN 'key_rotated'
      WHEN expires_at <= m.clock THEN 'key_expired'
      WHEN status <> 'active' THEN 'owner_suspended'
      WHEN paused_at IS NOT NULL THEN 'key_paused'
      WHEN ${ADDRESS_DENIED} THEN 'address_denied'
      WHEN NOT (permission = ANY (permissions) OR 'admin' = ANY (permissions)) THEN 'permission_denied'
      WHEN cardinality(allowed_agents) > 0 AND NOT (agent = ANY (allowed_agents) OR agent || '/' || app = ANY (allowed_agents))
        AND NOT (kind = 'upload' AND (agent = '' OR EXISTS (
          SELECT FROM unnest(allowed_agents) AS allowed WHERE starts_with(allowed, agent || '/')))) THEN 'agent_denied'`

/** Adds the admitted calls `a` to the counters; a counter of an earlier period starts again from zero. */
const COUNTED_USER = `
      api_calls_count = CASE WHEN u.quota_start >= a.period_start THEN u.api_calls_count ELSE 0 END + a.chats,
      quota_start = greatest(u.quota_start, a.period_start)`
const COUNTED_KEY = `
      total_calls = k.total_calls + a.calls,
      day_calls = CASE WHEN k.day_start >= a.day THEN k.day_calls ELSE 0 END + a.calls,
      day_start = greatest(k.day_start, a.day),
      month_calls = CASE WHEN k.month_start >= a.month THEN k.month_calls ELSE 0 END + a.calls,
      month_start = greatest(k.month_start, a.month),
      last_used_at = greatest(k.last_used_at, a.at),
      secret_used_at = CASE WHEN a.by_present THEN greatest(k.secret_used_at, a.at) ELSE k.secret_used_at END,
      previous_used_at = CASE WHEN a.by_previous THEN greatest(k.previous_used_at, a.at) ELSE k.previous_used_at END`

/** Inserts the ledger rows of those calls whose counters were updated. */
const WRITTEN = `
  INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, conversation, instance, admitted_at,
    answers)
  SELECT id, request_id, key_id, owner_id, end_user, kind, face, agent, app, conversation, $2::uuid, at, claims
  FROM admitted
  WHERE key_id IN (SELECT id FROM counted_keys) AND owner_id IN (SELECT id FROM counted_users)
  RETURNING id`

/**
 * `$3`: for how many milliseconds the statement waits for a row that is locked. Then it fails, and has counted nothing. The scalar
 * subquery runs once, before the first lock is taken, and what it sets ends with the statement.
 */
const WAITS_FOR_ROWS = `(SELECT set_config('lock_timeout', $3, true)) <> ''`

/** The beginning of a statement for a batch: reads the calls with these fields, takes the locks, and judges each call by itself. */
export const judged = (columns: string): string => `
WITH input AS MATERIALIZED (
  SELECT i.*, k.owner_id
  FROM json_to_recordset($1::json) AS i(n int, ${columns})
  LEFT JOIN LATERAL (SELECT owner_id FROM api_keys WHERE id = i.key_id LIMIT 1) k ON true
  WHERE ${WAITS_FOR_ROWS}
), repeated AS MATERIALIZED (
  SELECT i.id FROM input i CROSS JOIN LATERAL (SELECT FROM calls c WHERE c.id = i.id LIMIT 1) AS known
), locked_users AS MATERIALIZED (
  SELECT u.id, u.status, u.api_calls_count, u.max_api_calls, u.quota_period, u.quota_start
  FROM users u
  WHERE u.id = ANY (ARRAY(SELECT owner_id FROM input))
  ORDER BY u.id
  FOR NO KEY UPDATE
), locked_keys AS MATERIALIZED (
  SELECT k.id, ${JUDGED_KEY}
  FROM api_keys k
  WHERE (SELECT count(*) FROM locked_users) > 0 AND k.id = ANY (ARRAY(SELECT key_id FROM input))
  ORDER BY k.id
  FOR NO KEY UPDATE
), now AS MATERIALIZED (
  SELECT clock_timestamp() AS clock WHERE (SELECT count(*) FROM locked_keys) >= 0
), moments AS MATERIALIZED (
  SELECT owner_id, clock, at, date_trunc('day', at, 'UTC') AS day, date_trunc('month', at, 'UTC') AS month
  FROM (
    SELECT i.owner_id, now.clock, greatest(now.clock, max(k.day_start), max(u.quota_start)) AS at
    FROM now CROSS JOIN input i
    LEFT JOIN locked_keys k ON k.id = i.key_id
    LEFT JOIN locked_users u ON u.id = i.owner_id
    GROUP BY i.owner_id, now.clock) AS each_owner
), judged AS MATERIALIZED (
  SELECT i.*, m.at, m.day, m.month, u.max_api_calls, u.quota_period, p.period_start, ${USED} AS used, i.secret = k.hash AS is_present,
    i.id IN (SELECT id FROM repeated) AS is_repeat,
    CASE
      WHEN k.id IS NULL THEN 'key_unknown'${REFUSAL}${GENERATION_REFUSAL}${PAUSE_REFUSAL}
    END AS refusal,
    open_pause, generation
  FROM input i
  LEFT JOIN moments m ON m.owner_id = i.owner_id
  LEFT JOIN locked_keys k ON k.id = i.key_id
  LEFT JOIN locked_users u ON u.id = i.owner_id
  ${openPauseOf('i')}
  ${generationOf('i')}
  LEFT JOIN LATERAL (SELECT ${PERIOD_START}) p ON true
)`

/** Counts the calls of the CTE `admitted` and writes their rows. */
export const COUNTED = `, counted_users AS (
  UPDATE users u SET ${COUNTED_USER}
  FROM (SELECT owner_id, period_start, count(*) FILTER (WHERE kind = 'chat') AS chats
        FROM admitted GROUP BY owner_id, period_start) a
  WHERE u.id = a.owner_id AND u.id = ANY (ARRAY(SELECT owner_id FROM admitted))
  RETURNING u.id
), counted_keys AS (
  UPDATE api_keys k SET ${COUNTED_KEY}
  FROM (SELECT key_id, count(*) AS calls, bool_or(is_present) AS by_present, bool_or(NOT is_present) AS by_previous, at, day, month
        FROM admitted GROUP BY key_id, at, day, month) a
  WHERE k.id = a.key_id AND k.id = ANY (ARRAY(SELECT key_id FROM admitted))
  RETURNING k.id
), written AS (${WRITTEN}
)`

/**
 * Admission: authentication, permission, allowed agents, expiry, revocation, quota and counting in one statement.
 *
 * - `$1`: a JSON array of admissions, numbered by `n`; `$2`: the instance of this process; `$3`: how long it waits for a locked row.
 * - Call ids that are already in the ledger are left out first, so that a retry is counted once.
 * - Every writer locks users first and then keys, each in the order of their ids; without a common order, concurrent batches
 *   would deadlock. The scalar subqueries over the locking CTEs make each step wait for the whole step before it.
 * - The database's clock is read after the locks have been taken, and it alone decides whether a key has expired.
 * - A period never moves back, even if that clock does: if an owner's row, or a key of the owner in this batch, is already
 *   in a later period, the call is counted at the start of that period. The time is determined for each owner, so that one
 *   row with a wrong time does not affect other owners.
 * - A call in a conversation that waits for its user is rejected with `pause_open`, and the id of the pause is part of its answer. Whether the
 *   call is what was waited for is decided outside, by rules for texts; it comes again then, and claims the pause (`ADMIT_KEPT`).
 *   So other calls pay for pauses with the look at an index.
 * - Rows are named by arrays and by lateral selects of one row, which leave the planner no choice but an index, also where it plans
 *   while the tables are almost empty (`CALL_SETTINGS`).
 * - All answers are returned as one JSON value, `[refusal, key, owner, max_api_calls, null, pause, generation, quota_period]` for each call, because separate
 *   rows cost the client several times as much.
 */
export const ADMIT = `${judged(ADMISSION_COLUMNS)}, ranked AS MATERIALIZED (
  SELECT j.*, j.refusal IS NULL AND NOT j.is_repeat AS is_candidate,
    count(*) FILTER (WHERE j.refusal IS NULL AND NOT j.is_repeat AND j.kind = 'chat')
      OVER (PARTITION BY j.owner_id ORDER BY j.n) AS chat_rank
  FROM judged j
), admitted AS MATERIALIZED (
  SELECT * FROM ranked WHERE is_candidate AND (kind <> 'chat' OR used + chat_rank <= max_api_calls)
)${COUNTED}
SELECT coalesce(json_agg(json_build_array(
    CASE
      WHEN r.is_repeat OR r.id IN (SELECT id FROM written) THEN NULL
      ELSE coalesce(r.refusal, 'quota_exceeded')
    END,
    r.key_id, r.owner_id, r.max_api_calls, NULL, ${PAUSE_ANSWER}, r.generation, r.quota_period) ORDER BY r.n), '[]') AS answers
FROM ranked r`

/**
 * The same as {@link ADMIT} for an array of one call, which needs no ranking and sorting. It takes half the time, which is
 * what a call waits for that arrives alone. The row locks are taken in the order in which `OF` names the tables.
 */
export const ADMIT_ONE = `
WITH locked AS MATERIALIZED (
  SELECT i.*, ${JUDGED_KEY},
    u.id AS owner_id, u.status, u.api_calls_count, u.max_api_calls, u.quota_period, u.quota_start
  FROM json_to_record($1::json -> 0) AS i(${ADMISSION_COLUMNS})
  JOIN api_keys k ON k.id = i.key_id
  JOIN users u ON u.id = k.owner_id
  WHERE ${WAITS_FOR_ROWS}
  FOR NO KEY UPDATE OF u, k
), moment AS MATERIALIZED (
  SELECT clock, at, date_trunc('day', at, 'UTC') AS day, date_trunc('month', at, 'UTC') AS month
  FROM (SELECT clock_timestamp() AS clock, day_start, quota_start FROM locked) AS read
  CROSS JOIN LATERAL (SELECT greatest(clock, day_start, quota_start) AS at) AS owner
), judged AS MATERIALIZED (
  SELECT l.*, m.at, m.day, m.month, p.period_start,
    EXISTS (SELECT FROM calls c WHERE c.id = l.id) AS is_repeat,
    CASE${REFUSAL}${GENERATION_REFUSAL}${PAUSE_REFUSAL}
      WHEN kind = 'chat' AND ${USED} >= max_api_calls THEN 'quota_exceeded'
    END AS refusal,
    open_pause, generation
  FROM locked l CROSS JOIN moment m CROSS JOIN LATERAL (SELECT ${PERIOD_START}) p
  ${openPauseOf('l')}
  ${generationOf('l')}
), admitted AS MATERIALIZED (
  SELECT *, 1 AS calls, (kind = 'chat')::int AS chats, secret = hash AS by_present, secret <> hash AS by_previous FROM judged WHERE refusal IS NULL AND NOT is_repeat
), counted_users AS (
  UPDATE users u SET ${COUNTED_USER}
  FROM admitted a
  WHERE u.id = a.owner_id
  RETURNING u.id
), counted_keys AS (
  UPDATE api_keys k SET ${COUNTED_KEY}
  FROM admitted a
  WHERE k.id = a.key_id
  RETURNING k.id
), written AS (${WRITTEN}
)
SELECT json_build_array(coalesce(
  (SELECT json_build_array(
      CASE WHEN is_repeat OR id IN (SELECT id FROM written) THEN NULL ELSE coalesce(refusal, 'quota_exceeded') END,
      key_id, owner_id, max_api_calls, NULL, ${PAUSE_ANSWER}, generation, quota_period)
   FROM judged r),
  '["key_unknown", null, null, null]')) AS answers`

/**
 * `$1`: a JSON array of ids of keys. Returns those keys of which a row is locked, their own or that of their owner, and whether
 * a stranger holds it, which is any transaction but the running statement of a gateway.
 */
export const FIND_LOCKED = `
WITH asked AS MATERIALIZED (
  SELECT h.value AS key, k.id, k.owner_id
  FROM json_array_elements_text($1::json) h
  CROSS JOIN LATERAL (SELECT id, owner_id FROM api_keys WHERE id = h.value::uuid LIMIT 1) k
), free_users AS MATERIALIZED (
  SELECT id FROM users WHERE id = ANY (ARRAY(SELECT owner_id FROM asked)) FOR NO KEY UPDATE SKIP LOCKED
), free_keys AS MATERIALIZED (
  SELECT id FROM api_keys WHERE id = ANY (ARRAY(SELECT id FROM asked)) FOR NO KEY UPDATE SKIP LOCKED
), locked AS (
  SELECT a.key, l.holder FROM asked a CROSS JOIN LATERAL (SELECT xmax AS holder FROM users WHERE id = a.owner_id LIMIT 1) l
  WHERE a.owner_id NOT IN (SELECT id FROM free_users)
  UNION ALL
  SELECT a.key, l.holder FROM asked a CROSS JOIN LATERAL (SELECT xmax AS holder FROM api_keys WHERE id = a.id LIMIT 1) l
  WHERE a.id NOT IN (SELECT id FROM free_keys)
), strangers AS MATERIALIZED (
  SELECT l.transactionid FROM pg_locks l LEFT JOIN pg_stat_activity s USING (pid)
  WHERE l.locktype = 'transactionid' AND l.granted AND (s.application_name = 'trunkline' AND s.state = 'active') IS NOT TRUE
)
SELECT key, bool_or(holder IN (SELECT transactionid FROM strangers)) AS by_stranger FROM locked GROUP BY key`

/** `$1`: the id of a key, `$2`: for how many milliseconds it waits for the row, which is free again when it returns. */
export const WAIT_FOR_KEY = `
SELECT FROM api_keys
WHERE id = $1::uuid AND (SELECT set_config('lock_timeout', $2, true)) <> ''
FOR NO KEY UPDATE`
