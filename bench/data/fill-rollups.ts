import { GROWTH } from '../../apps/gateway/src/core/ledger/histogram.ts'

const HISTOGRAM = `
CREATE FUNCTION bench_histogram(cells int[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(cell, n) FROM (SELECT cell, count(*) AS n FROM unnest(cells) cell GROUP BY cell) c
$$`

/** Most hourly buckets hold one call, for which the slow function call can be avoided. */
const histogram = (cell: string) => `
  CASE count(${cell}) WHEN 0 THEN '{}' WHEN 1 THEN jsonb_build_object(min(${cell}), 1)
    ELSE bench_histogram(array_agg(${cell}) FILTER (WHERE ${cell} IS NOT NULL)) END`

/** One sort per grain serves its three spans. */
const grain = (name: string, subject: string, endUser: string) => `
INSERT INTO rollups
SELECT CASE GROUPING(day, hour) WHEN 0 THEN 'hour' WHEN 1 THEN 'day' ELSE 'month' END::rollup_span,
  '${name}'::rollup_grain, subject, coalesce(hour, day, fill_rollups.month), named, kind, agent, app, model, outcome,
  count(*), count(total_tokens), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
  coalesce(sum(total_tokens), 0),${histogram('first_chunk')},${histogram('duration')}
FROM (SELECT *, ${subject} AS subject, ${endUser} AS named FROM calls_of_month) t
GROUP BY subject, named, kind, agent, app, model, outcome, GROUPING SETS ((day, hour), (day), ())`

const cell = (ms: string) => `ceil(ln(greatest(${ms}, 1)::float8) / ln(${GROWTH}::float8))::int`

const FILL_MONTH = `
CREATE FUNCTION fill_rollups(month timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMP TABLE calls_of_month ON COMMIT DROP AS
  SELECT kind, agent COLLATE "C" AS agent, app COLLATE "C" AS app, coalesce(model, '') COLLATE "C" AS model, outcome,
    key_id, owner_id, end_user COLLATE "C" AS end_user, date_trunc('hour', admitted_at) AS hour,
    date_trunc('day', admitted_at) AS day, prompt_tokens, completion_tokens, total_tokens,
    CASE WHEN first_chunk_ms IS NOT NULL THEN ${cell('first_chunk_ms')} END AS first_chunk, ${cell('duration_ms')} AS duration
  FROM calls c
  WHERE c.admitted_at >= fill_rollups.month AND c.admitted_at < fill_rollups.month + interval '1 month';
  ANALYZE calls_of_month;
  ${[
    grain('all', `''`, `''`),
    grain('owner', 'owner_id::text', `''`),
    grain('key', 'key_id::text', `''`),
    grain('end_user', 'key_id::text', 'end_user'),
  ].join(';')};
END
$$`

/** Create the function `fill_rollups(month)`, which inserts the rollups of a month with the same arithmetic as the settlement. */
export const FILL_ROLLUPS = [HISTOGRAM, FILL_MONTH]
