/**
 * The remainder of a statement whose CTE `rated` returns the calls whose rating it changed, with the one `before`. It corrects the
 * rollups that the settlement of each call has written; a call that runs is counted with its rating by its settlement.
 *
 * - Names beyond the bound of their day were summed under `(other)`. The names themselves are kept for days, the rollups for good, so
 *   the rollup of the day tells where a call was added.
 * - Rows are written in the order of their keys, as settlements write them, because the two would deadlock otherwise.
 */
export const RATED = `
, changed AS (
  SELECT *, coalesce(model, '') AS rolled_model,
    (rating IS NOT DISTINCT FROM 'up')::int - (before IS NOT DISTINCT FROM 'up')::int AS up,
    (rating IS NOT DISTINCT FROM 'down')::int - (before IS NOT DISTINCT FROM 'down')::int AS down
  FROM rated WHERE outcome IS NOT NULL AND rating IS DISTINCT FROM before
), of_app AS (
  SELECT c.*, CASE WHEN c.app <> '' AND NOT ${isInDay("'all'", "''", "''", 'c.app')} AND ${isInDay("'all'", "''", "''", "'(other)'")}
    THEN '(other)' ELSE c.app END AS filed_app
  FROM changed c
), filed AS (
  SELECT c.*, CASE WHEN c.end_user <> '' AND NOT ${isInDay("'end_user'", 'c.key_id::text', 'c.end_user', 'c.filed_app')}
      AND ${isInDay("'end_user'", 'c.key_id::text', "'(other)'", 'c.filed_app')}
    THEN '(other)' ELSE c.end_user END AS filed_end_user
  FROM of_app c
), corrected AS (
  INSERT INTO rollups AS r (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, rated_up, rated_down, first_chunk, duration)
  SELECT s.span, g.grain, g.subject, date_trunc(s.span::text, c.admitted_at, 'UTC'), g.end_user, c.kind, c.agent, c.filed_app,
    c.rolled_model, c.outcome, 0, 0, 0, 0, 0, c.up, c.down, '{}', '{}'
  FROM filed c
  CROSS JOIN (VALUES ('hour'::rollup_span), ('day'), ('month')) AS s(span)
  CROSS JOIN LATERAL (VALUES
    ('all'::rollup_grain, '', ''),
    ('owner', c.owner_id::text, ''),
    ('key', c.key_id::text, ''),
    ('end_user', c.key_id::text, c.filed_end_user)) AS g(grain, subject, end_user)
  ORDER BY s.span, g.grain, g.subject, 4, g.end_user, c.kind, c.agent, c.filed_app, c.rolled_model, c.outcome
  ON CONFLICT (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome) DO UPDATE SET
    rated_up = r.rated_up + excluded.rated_up, rated_down = r.rated_down + excluded.rated_down
)`

/** Whether the day of the call `c` has a rollup with these names. */
function isInDay(grain: string, subject: string, endUser: string, app: string): string {
  return `EXISTS (
      SELECT FROM rollups r
      WHERE r.span = 'day' AND r.grain = ${grain} AND r.subject = ${subject} AND r.bucket = date_trunc('day', c.admitted_at, 'UTC')
        AND r.end_user = ${endUser} AND r.kind = c.kind AND r.agent = c.agent AND r.app = ${app}
        AND r.model = c.rolled_model AND r.outcome = c.outcome)`
}
