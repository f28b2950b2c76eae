/** The most single refusals that are kept of one reason, credential and hour. */
export const KEPT_AN_HOUR = 20
/** The most single refusals that are kept of one credential and day. */
export const KEPT_A_DAY = 1_000

const ALLOWANCE = 'INSERT INTO refusal_allowances AS a (credential, reason, start, kept)'
const UNLESS_USED_UP = (most: number) => `
  ON CONFLICT (credential, reason, start) DO UPDATE SET kept = a.kept + excluded.kept WHERE a.kept < ${most}
  RETURNING credential, reason, start, kept`

/**
 * Adds up counts, and keeps those single refusals for which there is room.
 *
 * - `$1`: a JSON array of counts, no two of them of one row; `$2`: a JSON array of single refusals.
 * - The allowances of hours and days are rows, so that all processes together keep no more than {@link KEPT_AN_HOUR} and
 *   {@link KEPT_A_DAY}. A batch adds how many it asks for, and what the row held before is the difference: so several refusals of
 *   one batch, and batches of several processes, which wait for each other's rows, each get what is left. A row that is used
 *   up is not written again, so a flood costs one look at it.
 * - Every process takes the rows in one order, or two would deadlock: counts before allowances, hours before days, and each by
 *   their keys. The scalar subquery makes the second step wait for the whole first one.
 */
export const RECORD = `
WITH counted AS (
  INSERT INTO refusal_counts AS c (minute, key_id, owner_id, agent, reason, "limit", count)
  SELECT minute, key_id, owner_id, agent, reason, "limit", count
  FROM json_to_recordset($1::json) AS i(minute timestamptz, key_id text, owner_id text, agent text, reason text, "limit" text, count bigint)
  ORDER BY minute, key_id, owner_id, agent, reason, "limit"
  ON CONFLICT (minute, key_id, owner_id, agent, reason, "limit") DO UPDATE SET count = c.count + excluded.count
  RETURNING 1
), given AS MATERIALIZED (
  SELECT i.*, date_trunc('hour', i.at, 'UTC') AS hour, date_trunc('day', i.at, 'UTC') AS day
  FROM json_to_recordset($2::json) AS i(id uuid, request_id text, at timestamptz, credential text, key_id uuid, owner_id uuid,
    key_prefix text, face text, route text, agent text, reason text, status smallint, "limit" text,
    limit_points int, limit_window_seconds int, limit_of text, field text)
  WHERE (SELECT count(*) FROM counted) >= 0
), ranked AS MATERIALIZED (
  SELECT g.*, count(*) OVER of_hour AS asked,
    row_number() OVER (PARTITION BY credential, reason, hour ORDER BY at, id) AS rank
  FROM given g
  WINDOW of_hour AS (PARTITION BY credential, reason, hour)
), hours AS (
  ${ALLOWANCE}
  SELECT credential, reason, hour, count(*) FROM ranked GROUP BY credential, reason, hour
  ORDER BY credential, reason, hour${UNLESS_USED_UP(KEPT_AN_HOUR)}
), within_hours AS MATERIALIZED (
  SELECT r.*, count(*) OVER (PARTITION BY r.credential, r.day) AS asked_of_day,
    row_number() OVER (PARTITION BY r.credential, r.day ORDER BY r.at, r.id) AS rank_in_day
  FROM ranked r
  JOIN hours h ON h.credential = r.credential AND h.reason = r.reason AND h.start = r.hour
  WHERE h.kept - r.asked + r.rank <= ${KEPT_AN_HOUR}
), days AS (
  ${ALLOWANCE}
  SELECT credential, '', day, count(*) FROM within_hours GROUP BY credential, day
  ORDER BY credential, day${UNLESS_USED_UP(KEPT_A_DAY)}
)
INSERT INTO refusals (id, request_id, at, key_id, owner_id, key_prefix, face, route, agent, reason, status, "limit",
  limit_points, limit_window_seconds, limit_of, field)
SELECT w.id, w.request_id, w.at, w.key_id, w.owner_id, w.key_prefix, w.face, w.route, w.agent, w.reason, w.status, w."limit",
  w.limit_points, w.limit_window_seconds, w.limit_of, w.field
FROM within_hours w
JOIN days d ON d.credential = w.credential AND d.start = w.day
WHERE d.kept - w.asked_of_day + w.rank_in_day <= ${KEPT_A_DAY}`
