import type { Sql } from '#core/database/database.ts'

/** A difference between two counts that should be equal. */
export interface Drift {
  readonly equation: string
  readonly subject: string
  readonly expected: number
  readonly found: number
}

export interface VerifyOptions {
  readonly retentionDays: number
  /** `recent` checks the counters and the rollups of today and yesterday, since older ones were checked before. */
  readonly extent: 'all' | 'recent'
}

/**
 * Checks the invariants of the usage data: counters = rollups + unsettled calls; the spans and grains of the rollups agree
 * with each other; ledger = rollups for the days that the ledger still holds. Each equation of a key, a user, a day or a month is
 * checked in one statement, so that it sees a consistent snapshot of a running system. Each statement reads a bounded number of
 * keys or users, one day or one month, so that its cost grows neither with their number nor with the history.
 */
export async function verifyUsage(sql: Sql, { retentionDays, extent }: VerifyOptions): Promise<Drift[]> {
  const drifts = [...(await counterDrifts(sql, KEY_COUNTERS)), ...(await counterDrifts(sql, USER_COUNTERS))]
  const spans = await sql.query<Span>(SPANS, [retentionDays, extent === 'recent'])
  for (const { span, start, isKept } of spans) {
    drifts.push(
      ...(await (span === 'month'
        ? sql.query<Drift>(MONTH, [start])
        : sql.query<Drift>(DAY, [start, isKept]))),
    )
  }
  // The check of the gateways themselves leaves them out: what is behind has an alert of its own, and is no fault of the sums.
  if (extent === 'all') drifts.push(...(await sql.query<Drift>(HELD)))
  return drifts
}

/**
 * The calls that have ended, as their living process reports with its heartbeats, and whose rows are open nevertheless, because it
 * cannot write their ends. The counters count them as running, so all other equations hold. A process names some of them, and the rows
 * decide: one that has been settled since the heartbeat is left out.
 */
const HELD = `
WITH reported AS MATERIALIZED (
  SELECT i.id AS instance, concat_ws(' ', i.host, i.pid) AS process, (c.concern ->> 'count')::int8 AS count, c.concern -> 'calls' AS calls
  FROM instances i
  CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(i.concerns) WHEN 'array' THEN i.concerns ELSE '[]' END) AS c(concern)
  WHERE i.stopped_at IS NULL AND i.lease_until > now()
    AND c.concern ->> 'concern' = 'ledger_behind' AND jsonb_typeof(c.concern -> 'calls') = 'array'
), held AS MATERIALIZED (
  SELECT r.instance, r.process, u.id
  FROM reported r
  CROSS JOIN LATERAL jsonb_array_elements_text(r.calls) AS named(id)
  CROSS JOIN LATERAL (
    SELECT id FROM calls u WHERE u.id = named.id::uuid AND u.instance = r.instance AND u.outcome IS NULL LIMIT 1) AS u
)
SELECT 'ended calls are settled' AS equation, 'call ' || id || ', process ' || process AS subject, 1::float8 AS expected, 0::float8 AS found
FROM held
UNION ALL
SELECT 'ended calls are settled', 'further calls, process ' || process, (count - jsonb_array_length(calls))::float8, 0
FROM reported
WHERE count > jsonb_array_length(calls) AND instance IN (SELECT instance FROM held)
ORDER BY equation, subject`

interface Span {
  readonly span: 'day' | 'month'
  readonly start: string
  /** Whether the ledger still holds all calls of this span. */
  readonly isKept: boolean
}

/* Not `enum_range`, which would include what a newer version on the same database has added. */
const EVERY_SPAN = `'{hour, day, month}'::rollup_span[]`
const EVERY_GRAIN = `'{all, owner, key, end_user}'::rollup_grain[]`

/** The days and months to check. `$1`: retention of the ledger in days, `$2`: whether to check only today and yesterday. */
const SPANS = `
WITH known AS (
  SELECT min(bucket) AS first, max(bucket) AS last
  FROM unnest(${EVERY_SPAN}) AS s(span)
  CROSS JOIN unnest(${EVERY_GRAIN}) AS g(grain)
  CROSS JOIN LATERAL (
    (SELECT bucket FROM rollups r WHERE r.span = s.span AND r.grain = g.grain ORDER BY bucket LIMIT 1) UNION ALL
    (SELECT bucket FROM rollups r WHERE r.span = s.span AND r.grain = g.grain ORDER BY bucket DESC LIMIT 1)
  ) AS edge
), looked_at AS (
  SELECT date_trunc('day', now(), 'UTC') AS today,
    CASE WHEN $2::boolean THEN date_trunc('day', now(), 'UTC') - interval '1 day'
      ELSE date_trunc('day', least(first, now()), 'UTC') END AS first,
    greatest(date_trunc('day', last, 'UTC'), date_trunc('day', now(), 'UTC')) AS last
  FROM known
)
SELECT 'month' AS span, start::text, false AS "isKept"
FROM looked_at, generate_series(date_trunc('month', first, 'UTC'), last, interval '1 month') AS start
UNION ALL
SELECT 'day', start::text, start >= today - ($1 - 1) * interval '1 day'
FROM looked_at, generate_series(first, last, interval '1 day') AS start`

/** Few enough for a fraction of a second on an embedded database, which serves no other statement meanwhile. */
const SUBJECTS_AT_ONCE = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Compares counters with rollups and unsettled calls, a bounded number of keys or users at a time, in the order of their ids. */
async function counterDrifts(sql: Sql, statement: string): Promise<Drift[]> {
  const drifts: Drift[] = []
  let last: string | null = BEFORE_ALL
  while (last !== null) {
    const rows: CountersRow[] = await sql.query<CountersRow>(statement, [last, SUBJECTS_AT_ONCE])
    drifts.push(...(rows[0]?.drifts ?? []))
    last = rows[0]?.last ?? null
  }
  return drifts
}

interface CountersRow {
  /** The greatest id that was compared; null after the last one. */
  readonly last: string | null
  readonly drifts: readonly Drift[]
}

/** The result of a statement whose CTE `portion` has the rows and whose CTE `compared` has the equations. */
const COMPARED = `
SELECT (SELECT id FROM portion ORDER BY id DESC LIMIT 1) AS last, (
  SELECT coalesce(json_agg(c ORDER BY equation, subject), '[]')
  FROM (SELECT equation, subject, expected::float8, found::float8 FROM compared WHERE expected <> found) AS c) AS drifts`

/**
 * The rollups of the row `s`, read by their primary key: only that has their order. Without it, and without statistics, the planner
 * takes the index of spans, grains and buckets, and reads the rollups of all keys for each key.
 */
const rollupsOf = (span: string, grain: 'key' | 'owner') => `(
      SELECT calls, bucket, kind FROM rollups WHERE span = ${span} AND grain = '${grain}' AND subject = s.id::text
      ORDER BY span, grain, subject, bucket, end_user, kind, agent, app, model, outcome LIMIT 1000000)`

/** `$1`: the id after which the keys begin, `$2` keys at most. */
const KEY_COUNTERS = `
WITH portion AS MATERIALIZED (
  SELECT id, total_calls, day_calls, month_calls, day_start, month_start
  FROM api_keys WHERE id > $1::uuid ORDER BY id LIMIT $2
), open AS MATERIALIZED (
  SELECT s.id, count(*) AS total,
    count(*) FILTER (WHERE date_trunc('day', u.admitted_at, 'UTC') = s.day_start) AS day,
    count(*) FILTER (WHERE date_trunc('month', u.admitted_at, 'UTC') = s.month_start) AS month
  FROM calls u JOIN portion s ON s.id = u.key_id
  WHERE u.outcome IS NULL
  GROUP BY s.id
), keys AS MATERIALIZED (
  SELECT s.id::text AS subject, s.total_calls, s.day_calls, s.month_calls,
    months.total + coalesce(o.total, 0) AS total,
    days.calls + coalesce(o.day, 0) AS day,
    months.latest + coalesce(o.month, 0) AS month
  FROM portion s
  LEFT JOIN open o USING (id)
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls), 0) AS total, coalesce(sum(calls) FILTER (WHERE bucket = s.month_start), 0) AS latest
    FROM ${rollupsOf("'month'", 'key')} AS r
  ) AS months
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls) FILTER (WHERE bucket = s.day_start), 0) AS calls
    FROM ${rollupsOf("'day'", 'key')} AS r
  ) AS days
), compared AS (
  SELECT 'key total = rollups + unsettled' AS equation, subject, total_calls AS expected, total AS found FROM keys
  UNION ALL
  SELECT 'key day = rollups + unsettled', subject, day_calls, day FROM keys WHERE total_calls > 0
  UNION ALL
  SELECT 'key month = rollups + unsettled', subject, month_calls, month FROM keys WHERE total_calls > 0
)${COMPARED}`

/** The same for users. */
const USER_COUNTERS = `
WITH portion AS MATERIALIZED (
  SELECT id, api_calls_count, quota_period, quota_start FROM users WHERE id > $1::uuid ORDER BY id LIMIT $2
), open AS MATERIALIZED (
  SELECT s.id, count(*) AS calls
  FROM calls o JOIN portion s ON s.id = o.owner_id
  WHERE o.outcome IS NULL AND o.kind = 'chat' AND o.admitted_at >= s.quota_start
  GROUP BY s.id
), compared AS (
  SELECT 'user count = rollups + unsettled' AS equation, s.id::text AS subject, s.api_calls_count AS expected,
    r.calls + coalesce(o.calls, 0) AS found
  FROM portion s
  LEFT JOIN open o USING (id)
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls) FILTER (WHERE bucket >= s.quota_start AND kind = 'chat'), 0) AS calls
    FROM ${rollupsOf("(CASE s.quota_period WHEN 'day' THEN 'day' ELSE 'month' END)::rollup_span", 'owner')} AS r
  ) AS r
)${COMPARED}`

/** Compares the sums of a month by span and grain with its rollup of all calls. `$1`: start of the month. */
const MONTH = `
WITH sums AS MATERIALIZED (
  SELECT span, grain, sum(calls) AS calls
  FROM rollups
  WHERE span = 'month' AND grain = ANY (${EVERY_GRAIN}) AND bucket = $1::timestamptz
  GROUP BY span, grain
  UNION ALL
  SELECT span, grain, sum(calls)
  FROM rollups
  WHERE span = 'day' AND grain = ANY (${EVERY_GRAIN})
    AND bucket >= $1::timestamptz AND bucket < $1::timestamptz + interval '1 month'
  GROUP BY span, grain
)
SELECT 'rollups agree: ' || span || ', ' || grain AS equation, to_char($1::timestamptz, 'YYYY-MM') AS subject,
  expected::float8, found::float8
FROM unnest('{month, day}'::rollup_span[]) AS every_span(span)
CROSS JOIN unnest(${EVERY_GRAIN}) AS every_grain(grain)
CROSS JOIN LATERAL (
  SELECT coalesce(sum(calls) FILTER (WHERE s.span = 'month' AND s.grain = 'all'), 0) AS expected,
    coalesce(sum(calls) FILTER (WHERE s.span = every_span.span AND s.grain = every_grain.grain), 0) AS found
  FROM sums s
) AS compared
WHERE expected <> found
ORDER BY equation`

/**
 * Compares the hours of a day by grain with its rollup of all calls, and that rollup by outcome with the ledger. `$1`: start
 * of the day, `$2`: whether the ledger still holds the day. The range of ids, which selects the rows through the primary key,
 * allows a day of difference between a gateway's estimate of the database's time and the database's clock.
 */
const DAY = `
WITH hours AS MATERIALIZED (
  SELECT grain, sum(calls) AS calls
  FROM rollups
  WHERE span = 'hour' AND grain = ANY (${EVERY_GRAIN})
    AND bucket >= $1::timestamptz AND bucket < $1::timestamptz + interval '1 day'
  GROUP BY grain
), day AS MATERIALIZED (
  SELECT outcome, sum(calls) AS calls, sum(rated_up) AS rated_up, sum(rated_down) AS rated_down
  FROM rollups WHERE span = 'day' AND grain = 'all' AND bucket = $1::timestamptz
  GROUP BY outcome
), ledger AS MATERIALIZED (
  SELECT outcome, count(*) AS calls, count(*) FILTER (WHERE rating = 'up') AS rated_up,
    count(*) FILTER (WHERE rating = 'down') AS rated_down
  FROM calls
  WHERE $2::boolean AND outcome IS NOT NULL
    AND admitted_at >= $1::timestamptz AND admitted_at < $1::timestamptz + interval '1 day'
    AND id >= (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::int8 - 86400000), 12, '0') || repeat('0', 20))::uuid
    AND id < (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::int8 + 2 * 86400000), 12, '0') || repeat('0', 20))::uuid
  GROUP BY outcome
)
SELECT equation, subject, expected::float8, found::float8
FROM (
  SELECT 'rollups agree: hour, ' || every_grain.grain AS equation, to_char($1::timestamptz, 'YYYY-MM-DD') AS subject,
    (SELECT coalesce(sum(calls), 0) FROM day) AS expected,
    coalesce((SELECT calls FROM hours WHERE hours.grain = every_grain.grain), 0) AS found
  FROM unnest(${EVERY_GRAIN}) AS every_grain(grain)
  UNION ALL
  SELECT 'ledger = rollups', to_char($1::timestamptz, 'YYYY-MM-DD') || ' ' || outcome,
    coalesce(ledger.calls, 0), coalesce(day.calls, 0)
  FROM ledger FULL JOIN day USING (outcome)
  WHERE $2::boolean
  UNION ALL
  SELECT 'ratings = rollups', to_char($1::timestamptz, 'YYYY-MM-DD') || ' ' || rating, expected, found
  FROM (
    SELECT coalesce(sum(ledger.rated_up), 0), coalesce(sum(day.rated_up), 0), coalesce(sum(ledger.rated_down), 0),
      coalesce(sum(day.rated_down), 0)
    FROM ledger FULL JOIN day USING (outcome)
    WHERE $2::boolean
  ) AS s(up, rolled_up, down, rolled_down)
  CROSS JOIN LATERAL (VALUES ('up', up, rolled_up), ('down', down, rolled_down)) AS r(rating, expected, found)
) AS every
WHERE expected <> found
ORDER BY equation, subject`
