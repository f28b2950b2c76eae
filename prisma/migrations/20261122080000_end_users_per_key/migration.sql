-- The sums of end users were those of an owner, and are now those of a key, so that both can be asked for together. What a
-- sum of an owner was made of is in the ledger alone: they are made anew from it.
DELETE FROM "rollups" WHERE "grain" = 'end_user';

WITH told AS (
  SELECT s.span, c.key_id::text AS subject, s.bucket, c.end_user, c.kind, c.agent, c.app, coalesce(c.model, '') AS model,
    c.outcome, c.prompt_tokens, c.completion_tokens, c.total_tokens,
    CASE WHEN c.first_chunk_ms IS NOT NULL
      THEN ceil(ln(greatest(c.first_chunk_ms, 1)::float8) / ln(1.1::float8))::int END AS first_chunk,
    CASE WHEN c.duration_ms IS NOT NULL
      THEN ceil(ln(greatest(c.duration_ms, 1)::float8) / ln(1.1::float8))::int END AS duration
  FROM calls c
  CROSS JOIN LATERAL (VALUES
    ('hour'::rollup_span, date_trunc('hour', c.admitted_at, 'UTC')),
    ('day', date_trunc('day', c.admitted_at, 'UTC')),
    ('month', date_trunc('month', c.admitted_at, 'UTC'))) AS s(span, bucket)
  WHERE c.outcome IS NOT NULL
), counted AS (
  SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, first_chunk, duration, count(*) AS calls,
    count(total_tokens) AS token_calls, sum(prompt_tokens) AS prompt_tokens,
    sum(completion_tokens) AS completion_tokens, sum(total_tokens) AS total_tokens
  FROM told
  GROUP BY span, subject, bucket, end_user, kind, agent, app, model, outcome, first_chunk, duration
), first_chunks AS (
  SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, jsonb_object_agg(first_chunk, n) AS histogram
  FROM (
    SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, first_chunk, sum(calls) AS n
    FROM counted WHERE first_chunk IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) c
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
), durations AS (
  SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, jsonb_object_agg(duration, n) AS histogram
  FROM (
    SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, duration, sum(calls) AS n
    FROM counted WHERE duration IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) c
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
), sums AS (
  SELECT span, subject, bucket, end_user, kind, agent, app, model, outcome, sum(calls) AS calls,
    sum(token_calls) AS token_calls, coalesce(sum(prompt_tokens), 0) AS prompt_tokens,
    coalesce(sum(completion_tokens), 0) AS completion_tokens, coalesce(sum(total_tokens), 0) AS total_tokens
  FROM counted
  GROUP BY span, subject, bucket, end_user, kind, agent, app, model, outcome
)
INSERT INTO "rollups" (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
  calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
SELECT span, 'end_user', subject, bucket, end_user, kind, agent, app, model, outcome,
  calls, token_calls, prompt_tokens, completion_tokens, total_tokens,
  coalesce(f.histogram, '{}'), coalesce(d.histogram, '{}')
FROM sums
LEFT JOIN first_chunks f USING (span, subject, bucket, end_user, kind, agent, app, model, outcome)
LEFT JOIN durations d USING (span, subject, bucket, end_user, kind, agent, app, model, outcome);
