import type { Sql } from '#core/database/database.ts'

/** One equation that does not hold. */
export interface Drift {
  readonly equation: string
  readonly subject: string
  readonly expected: number
  readonly found: number
}

/**
 * Checks what must always be true: counters = rollups + unsettled calls, spans and grains of the rollups agree with each
 * other, ledger = rollups for the days that the ledger still holds. One statement, so that it sees one moment of a running
 * system.
 */
export function verifyUsage(sql: Sql, { retentionDays }: { retentionDays: number }): Promise<Drift[]> {
  return sql.query<Drift>(VERIFY, [retentionDays])
}

const VERIFY = `
WITH unsettled AS (
  SELECT key_id, owner_id, kind, admitted_at FROM calls WHERE outcome IS NULL
), sums AS (
  SELECT span, grain, subject, bucket, kind, sum(calls) AS calls
  FROM rollups GROUP BY span, grain, subject, bucket, kind
), of_keys AS MATERIALIZED (
  SELECT k.id,
    coalesce(sum(s.calls) FILTER (WHERE s.span = 'month'), 0) AS total,
    coalesce(sum(s.calls) FILTER (WHERE s.span = 'day' AND s.bucket = k.day_start), 0) AS day,
    coalesce(sum(s.calls) FILTER (WHERE s.span = 'month' AND s.bucket = k.month_start), 0) AS month
  FROM api_keys k JOIN sums s ON s.grain = 'key' AND s.subject = k.id::text
  GROUP BY k.id
), open_of_keys AS MATERIALIZED (
  SELECT k.id, count(*) AS total,
    count(*) FILTER (WHERE date_trunc('day', u.admitted_at, 'UTC') = k.day_start) AS day,
    count(*) FILTER (WHERE date_trunc('month', u.admitted_at, 'UTC') = k.month_start) AS month
  FROM unsettled u JOIN api_keys k ON k.id = u.key_id
  GROUP BY k.id
), keys AS MATERIALIZED (
  SELECT k.id::text AS subject, k.total_calls, k.day_calls, k.month_calls,
    coalesce(r.total, 0) + coalesce(o.total, 0) AS total,
    coalesce(r.day, 0) + coalesce(o.day, 0) AS day,
    coalesce(r.month, 0) + coalesce(o.month, 0) AS month
  FROM api_keys k LEFT JOIN of_keys r USING (id) LEFT JOIN open_of_keys o USING (id)
), key_total AS (
  SELECT 'key total = rollups + unsettled' AS equation, subject, total_calls AS expected, total AS found FROM keys
), key_day AS (
  SELECT 'key day = rollups + unsettled', subject, day_calls, day FROM keys WHERE total_calls > 0
), key_month AS (
  SELECT 'key month = rollups + unsettled', subject, month_calls, month FROM keys WHERE total_calls > 0
), of_users AS MATERIALIZED (
  SELECT u.id, coalesce(sum(s.calls), 0) AS calls
  FROM users u JOIN sums s ON s.grain = 'owner' AND s.subject = u.id::text AND s.kind = 'chat'
    AND s.span = CASE u.quota_period WHEN 'day' THEN 'day'::rollup_span ELSE 'month' END
    AND s.bucket >= u.quota_start
  GROUP BY u.id
), open_of_users AS MATERIALIZED (
  SELECT u.id, count(*) AS calls
  FROM unsettled o JOIN users u ON u.id = o.owner_id
  WHERE o.kind = 'chat' AND o.admitted_at >= u.quota_start
  GROUP BY u.id
), user_count AS (
  SELECT 'user count = rollups + unsettled', u.id::text, u.api_calls_count,
    coalesce(r.calls, 0) + coalesce(o.calls, 0)
  FROM users u LEFT JOIN of_users r USING (id) LEFT JOIN open_of_users o USING (id)
), agreement AS (
  SELECT 'rollups agree: ' || span || ', ' || grain, '',
    (SELECT coalesce(sum(calls), 0) FROM sums WHERE span = 'month' AND grain = 'all'),
    (SELECT coalesce(sum(calls), 0) FROM sums s WHERE s.span = every_span.span AND s.grain = every_grain.grain)
  FROM unnest(enum_range(NULL::rollup_span)) AS every_span(span)
  CROSS JOIN unnest(enum_range(NULL::rollup_grain)) AS every_grain(grain)
), ledger AS (
  SELECT 'ledger = rollups', to_char(day, 'YYYY-MM-DD') || ' ' || outcome,
    coalesce(l.calls, 0), coalesce(r.calls, 0)
  FROM (
    SELECT date_trunc('day', admitted_at, 'UTC') AS day, outcome, count(*) AS calls
    FROM calls
    WHERE outcome IS NOT NULL AND admitted_at >= date_trunc('day', now(), 'UTC') - ($1 - 1) * interval '1 day'
    GROUP BY 1, 2
  ) l FULL JOIN (
    SELECT bucket AS day, outcome, sum(calls) AS calls
    FROM rollups
    WHERE span = 'day' AND grain = 'all' AND bucket >= date_trunc('day', now(), 'UTC') - ($1 - 1) * interval '1 day'
    GROUP BY 1, 2
  ) r USING (day, outcome)
)
SELECT equation, subject, expected::float8, found::float8
FROM (
  SELECT * FROM key_total UNION ALL SELECT * FROM key_day UNION ALL SELECT * FROM key_month
  UNION ALL SELECT * FROM user_count UNION ALL SELECT * FROM agreement UNION ALL SELECT * FROM ledger
) AS every
WHERE expected <> found
ORDER BY equation, subject`
