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
 * with each other; ledger = rollups for the days that the ledger still holds. Each equation is checked in one statement, so
 * that it sees a consistent snapshot of a running system. Apart from the counters, each statement reads one day or one
 * month, so that its cost does not grow with the history.
 */
export async function verifyUsage(sql: Sql, { retentionDays, extent }: VerifyOptions): Promise<Drift[]> {
  const drifts = await sql.query<Drift>(COUNTERS)
  const spans = await sql.query<Span>(SPANS, [retentionDays, extent === 'recent'])
  for (const { span, start, isKept } of spans) {
    drifts.push(
      ...(await (span === 'month'
        ? sql.query<Drift>(MONTH, [start])
        : sql.query<Drift>(DAY, [start, isKept]))),
    )
  }
  return drifts
}

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

/**
 * The counters of keys and users against rollups and unsettled calls. The rollups are read for one key or user at a time,
 * because with a join of the whole tables a planner without statistics takes minutes.
 */
const COUNTERS = `
WITH unsettled AS MATERIALIZED (
  SELECT key_id, owner_id, kind, admitted_at FROM calls WHERE outcome IS NULL
), open_of_keys AS MATERIALIZED (
  SELECT k.id, count(*) AS total,
    count(*) FILTER (WHERE date_trunc('day', u.admitted_at, 'UTC') = k.day_start) AS day,
    count(*) FILTER (WHERE date_trunc('month', u.admitted_at, 'UTC') = k.month_start) AS month
  FROM unsettled u JOIN api_keys k ON k.id = u.key_id
  GROUP BY k.id
), keys AS MATERIALIZED (
  SELECT k.id::text AS subject, k.total_calls, k.day_calls, k.month_calls,
    months.total + coalesce(o.total, 0) AS total,
    days.calls + coalesce(o.day, 0) AS day,
    months.latest + coalesce(o.month, 0) AS month
  FROM api_keys k
  LEFT JOIN open_of_keys o USING (id)
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls), 0) AS total, coalesce(sum(calls) FILTER (WHERE bucket = k.month_start), 0) AS latest
    FROM rollups WHERE span = 'month' AND grain = 'key' AND subject = k.id::text
  ) AS months
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls), 0) AS calls
    FROM rollups WHERE span = 'day' AND grain = 'key' AND subject = k.id::text AND bucket = k.day_start
  ) AS days
), open_of_users AS MATERIALIZED (
  SELECT u.id, count(*) AS calls
  FROM unsettled o JOIN users u ON u.id = o.owner_id
  WHERE o.kind = 'chat' AND o.admitted_at >= u.quota_start
  GROUP BY u.id
), users AS MATERIALIZED (
  SELECT u.id::text AS subject, u.api_calls_count, r.calls + coalesce(o.calls, 0) AS calls
  FROM users u
  LEFT JOIN open_of_users o USING (id)
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(calls), 0) AS calls
    FROM rollups
    WHERE span = CASE u.quota_period WHEN 'day' THEN 'day'::rollup_span ELSE 'month' END
      AND grain = 'owner' AND subject = u.id::text AND bucket >= u.quota_start AND kind = 'chat'
  ) AS r
)
SELECT equation, subject, expected::float8, found::float8
FROM (
  SELECT 'key total = rollups + unsettled' AS equation, subject, total_calls AS expected, total AS found FROM keys
  UNION ALL
  SELECT 'key day = rollups + unsettled', subject, day_calls, day FROM keys WHERE total_calls > 0
  UNION ALL
  SELECT 'key month = rollups + unsettled', subject, month_calls, month FROM keys WHERE total_calls > 0
  UNION ALL
  SELECT 'user count = rollups + unsettled', subject, api_calls_count, calls FROM users
) AS every
WHERE expected <> found
ORDER BY equation, subject`

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
  SELECT outcome, sum(calls) AS calls
  FROM rollups WHERE span = 'day' AND grain = 'all' AND bucket = $1::timestamptz
  GROUP BY outcome
), ledger AS MATERIALIZED (
  SELECT outcome, count(*) AS calls
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
) AS every
WHERE expected <> found
ORDER BY equation, subject`
