import { GROWTH } from './histogram.ts'

/**
 * Adds two sparse histograms (cell → calls); only the cells of the new one are computed. It is expanded in place, because
 * calling an SQL function costs more than the expression itself.
 */
const added = (column: string) => `CASE
      WHEN excluded.${column} = '{}' THEN r.${column}
      ELSE r.${column} || (
        SELECT jsonb_object_agg(key, coalesce((r.${column} ->> key)::int8, 0) + value::int8)
        FROM jsonb_each_text(excluded.${column}))
    END`

/** Of each fact, its cells of a histogram with their calls. */
const cellsOf = (column: string) =>
  `facts CROSS JOIN LATERAL unnest(facts.${column}, facts.counts) AS c(cell, alike_calls)`

/** The end of a statement that inserts into `rollups AS r` what is added to the rows that are there. */
export const ADDED_TO_ROLLUPS = `ON CONFLICT (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome) DO UPDATE SET
    calls = r.calls + excluded.calls,
    token_calls = r.token_calls + excluded.token_calls,
    prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = r.completion_tokens + excluded.completion_tokens,
    total_tokens = r.total_tokens + excluded.total_tokens,
    rated_up = r.rated_up + excluded.rated_up,
    rated_down = r.rated_down + excluded.rated_down,
    first_chunk = ${added('first_chunk')},
    duration = ${added('duration')}`

/** The most names chosen by callers that get rollups of their own within a day (UTC). */
export interface RollupBounds {
  /** End users of one owner. */
  readonly endUsersPerDayMax: number
  /** Apps of one agent. */
  readonly appsPerDayMax: number
}

export const ROLLUP_BOUNDS: RollupBounds = { endUsersPerDayMax: 10_000, appsPerDayMax: 1_000 }

/**
 * The remainder of a statement whose CTE `settled` returns the calls that it ended. It adds their sums to the rollups of the
 * hour, day and month of their admission, at the grains of all calls, of the owner, of the key and of a key's end user.
 *
 * - End users and, on some platforms, apps are chosen by callers. Names beyond the bound of their day are summed under
 *   `(other)`. The names within it are stored as rows, so that every process decides alike and a later correction subtracts
 *   a call where it was added. Statements of different processes do not see each other's names until they commit, so the
 *   bound may be exceeded by what each process settles at once.
 * - `was_interrupted`: the process that ran the call replaces the outcome `interrupted` that another process had written,
 *   which is subtracted again.
 * - Calls that differ in their times alone are merged in the first steps, with their times as arrays, because each row is then
 *   multiplied by twelve (three spans, four grains), and sorted by ten columns.
 * - Rows are written in the order of their keys. Concurrent settlements update the same rows and would deadlock otherwise.
 */
export const rollUp = ({ endUsersPerDayMax, appsPerDayMax }: RollupBounds) => `
, named AS MATERIALIZED (
  SELECT 'end_user'::rollup_name_kind AS kind, owner_id::text AS subject, date_trunc('day', admitted_at, 'UTC') AS day,
    end_user AS name, ${endUsersPerDayMax} AS names_max
  FROM settled WHERE end_user <> ''
  UNION
  SELECT 'app', agent, date_trunc('day', admitted_at, 'UTC'), app, ${appsPerDayMax} FROM settled WHERE app <> ''
), fresh AS MATERIALIZED (
  SELECT n.kind, n.subject, n.day, n.name,
    coalesce(c.names, 0) + row_number() OVER (PARTITION BY n.kind, n.subject, n.day ORDER BY n.name) <= n.names_max AS fits
  FROM named n
  LEFT JOIN LATERAL (
    SELECT true AS is_known FROM rollup_names r
    WHERE r.kind = n.kind AND r.subject = n.subject AND r.day = n.day AND r.name = n.name LIMIT 1) k ON true
  LEFT JOIN LATERAL (
    SELECT names FROM rollup_name_counts r
    WHERE r.kind = n.kind AND r.subject = n.subject AND r.day = n.day LIMIT 1) c ON true
  WHERE k.is_known IS NULL
), entered AS (
  INSERT INTO rollup_names (kind, subject, day, name)
  SELECT kind, subject, day, name FROM fresh WHERE fits ORDER BY kind, subject, day, name
  ON CONFLICT DO NOTHING
  RETURNING kind, subject, day
), counted_names AS (
  INSERT INTO rollup_name_counts AS c (kind, subject, day, names)
  SELECT kind, subject, day, count(*) FROM entered GROUP BY kind, subject, day ORDER BY kind, subject, day
  ON CONFLICT (kind, subject, day) DO UPDATE SET names = c.names + excluded.names
), filed AS MATERIALIZED (
  SELECT s.*,
    CASE WHEN (s.agent, date_trunc('day', s.admitted_at, 'UTC'), s.app)
      IN (SELECT subject, day, name FROM fresh WHERE kind = 'app' AND NOT fits) THEN '(other)' ELSE s.app
    END AS filed_app,
    CASE WHEN (s.owner_id::text, date_trunc('day', s.admitted_at, 'UTC'), s.end_user)
      IN (SELECT subject, day, name FROM fresh WHERE kind = 'end_user' AND NOT fits) THEN '(other)' ELSE s.end_user
    END AS filed_end_user
  FROM settled s
), each AS (
  SELECT 1 AS sign, kind, agent, filed_app AS app, coalesce(model, '') AS model, outcome, key_id, owner_id,
    filed_end_user AS end_user, admitted_at, rating,
    prompt_tokens, completion_tokens, total_tokens,
    CASE WHEN first_chunk_ms IS NOT NULL THEN ceil(ln(greatest(first_chunk_ms, 1)::float8) / ln(${GROWTH}::float8))::int END AS first_chunk,
    CASE WHEN duration_ms IS NOT NULL THEN ceil(ln(greatest(duration_ms, 1)::float8) / ln(${GROWTH}::float8))::int END AS duration
  FROM filed
  UNION ALL
  SELECT -1, kind, agent, filed_app, '', 'interrupted', key_id, owner_id, filed_end_user, admitted_at, rating, NULL, NULL, NULL, NULL, NULL
  FROM filed WHERE was_interrupted
), distinct_calls AS (
  SELECT kind, agent, app, model, outcome, key_id, owner_id, end_user, date_trunc('hour', admitted_at, 'UTC') AS hour,
    first_chunk, duration, sum(sign) AS calls, count(total_tokens) AS token_calls,
    sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, sum(total_tokens) AS total_tokens,
    coalesce(sum(sign) FILTER (WHERE rating = 'up'), 0) AS rated_up,
    coalesce(sum(sign) FILTER (WHERE rating = 'down'), 0) AS rated_down
  FROM each
  GROUP BY kind, agent, app, model, outcome, key_id, owner_id, end_user, date_trunc('hour', admitted_at, 'UTC'), first_chunk, duration
), alike AS MATERIALIZED (
  SELECT kind, agent, app, model, outcome, key_id, owner_id, end_user, hour,
    array_agg(first_chunk) AS first_chunks, array_agg(duration) AS durations, array_agg(calls) AS counts,
    sum(calls) AS calls, sum(token_calls) AS token_calls,
    sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, sum(total_tokens) AS total_tokens,
    sum(rated_up) AS rated_up, sum(rated_down) AS rated_down
  FROM distinct_calls
  GROUP BY kind, agent, app, model, outcome, key_id, owner_id, end_user, hour
), facts AS MATERIALIZED (
  SELECT s.span, g.grain, g.subject, s.bucket, g.end_user, t.kind, t.agent, t.app, t.model, t.outcome,
    t.first_chunks, t.durations, t.counts,
    t.calls, t.token_calls, t.prompt_tokens, t.completion_tokens, t.total_tokens, t.rated_up, t.rated_down,
    dense_rank() OVER (ORDER BY s.span, g.grain, g.subject, s.bucket, g.end_user,
      t.kind, t.agent, t.app, t.model, t.outcome) AS place
  FROM alike t
  CROSS JOIN LATERAL (VALUES
    ('hour'::rollup_span, t.hour),
    ('day', date_trunc('day', t.hour, 'UTC')),
    ('month', date_trunc('month', t.hour, 'UTC'))) AS s(span, bucket)
  CROSS JOIN LATERAL (VALUES
    ('all'::rollup_grain, '', ''),
    ('owner', t.owner_id::text, ''),
    ('key', t.key_id::text, ''),
    ('end_user', t.key_id::text, t.end_user)) AS g(grain, subject, end_user)
), first_chunks AS (
  SELECT place, jsonb_object_agg(cell, n) AS histogram
  FROM (SELECT place, cell, sum(alike_calls) AS n FROM ${cellsOf('first_chunks')} WHERE cell IS NOT NULL GROUP BY 1, 2) c
  GROUP BY place
), durations AS (
  SELECT place, jsonb_object_agg(cell, n) AS histogram
  FROM (SELECT place, cell, sum(alike_calls) AS n FROM ${cellsOf('durations')} WHERE cell IS NOT NULL GROUP BY 1, 2) c
  GROUP BY place
), sums AS (
  SELECT place, span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    sum(calls) AS calls,
    sum(token_calls) AS token_calls,
    coalesce(sum(prompt_tokens), 0) AS prompt_tokens,
    coalesce(sum(completion_tokens), 0) AS completion_tokens,
    coalesce(sum(total_tokens), 0) AS total_tokens,
    sum(rated_up) AS rated_up, sum(rated_down) AS rated_down
  FROM facts
  GROUP BY place, span, grain, subject, bucket, end_user, kind, agent, app, model, outcome
), rolled AS (
  INSERT INTO rollups AS r (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, rated_up, rated_down, first_chunk, duration)
  SELECT span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, rated_up, rated_down,
    coalesce(f.histogram, '{}'), coalesce(d.histogram, '{}')
  FROM sums LEFT JOIN first_chunks f USING (place) LEFT JOIN durations d USING (place)
  ORDER BY place
  ${ADDED_TO_ROLLUPS}
)`

/** What {@link rollUp} and `LISTED` take of each call that the CTE `settled` ended, beside `was_interrupted` and `is_listed`. */
export const SETTLED_COLUMNS = `c.id, c.kind, c.agent, c.app, c.conversation, c.model, c.outcome, c.key_id, c.owner_id, c.end_user, c.admitted_at,
    c.rating, c.prompt_tokens, c.completion_tokens, c.total_tokens, c.first_chunk_ms, c.duration_ms`
