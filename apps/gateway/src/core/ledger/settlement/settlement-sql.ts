import { LISTED } from '#core/ledger/listed-conversations-sql.ts'
import { type RollupBounds, rollUp, SETTLED_COLUMNS } from '#core/ledger/roll-up-sql.ts'
import { interrupt, isOfDeadInstance } from '#core/ledger/settle-dead-instances-sql.ts'

/**
 * `$1`: a JSON array of settlements, `$2`: this instance. An outcome is final, except for `interrupted`, which is replaced by
 * the settlement of the process that ran the call. The ids are passed through an array to keep the planner from reading the
 * whole ledger: it estimates 100 rows for any JSON, but 10 for an array.
 */
const settle = (bounds: RollupBounds) => `
WITH given AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json) AS s(
    id uuid, outcome text, deployment text, attempts int2, attempt_list jsonb, trace_id text, queued_ms int, reason text, model text,
    platform_status int, platform_code text, platform_log_id text,
    prompt_tokens int, completion_tokens int, total_tokens int, first_chunk_ms int, duration_ms int, has_turn boolean, paused boolean, is_listed boolean,
    conversation_name text, answer_id text)
), open AS MATERIALIZED (
  SELECT c.id, c.outcome IS NOT NULL AS was_interrupted
  FROM calls c
  WHERE c.id = ANY (ARRAY(SELECT id FROM given)) AND c.instance = $2::uuid AND (c.outcome IS NULL OR c.outcome = 'interrupted')
  ORDER BY c.id
  FOR UPDATE
), settled AS (
  UPDATE calls c
  SET outcome = s.outcome, deployment = s.deployment, attempts = s.attempts, queued_ms = s.queued_ms,
      attempt_list = s.attempt_list, trace_id = s.trace_id,
      reason = s.reason, model = s.model,
      platform_status = s.platform_status, platform_code = s.platform_code, platform_log_id = s.platform_log_id,
      prompt_tokens = s.prompt_tokens, completion_tokens = s.completion_tokens, total_tokens = s.total_tokens,
      first_chunk_ms = s.first_chunk_ms, duration_ms = s.duration_ms, has_turn = s.has_turn, paused = coalesce(s.paused, false),
      answer_id = s.answer_id,
      ended_at = clock_timestamp()
  FROM open o JOIN given s USING (id)
  WHERE c.id = o.id
  RETURNING ${SETTLED_COLUMNS}, o.was_interrupted, s.is_listed, s.conversation_name
)${rollUp(bounds)}${LISTED}
SELECT count(*) FROM settled`

/** The statements that settle calls. The bounds are part of their text, because they never change while a process runs. */
export const settlements = (bounds: RollupBounds) => ({
  SETTLE: settle(bounds),
  /** `$1`: this instance. For a database that only one process uses, in which all other instances have ended. */
  SETTLE_PREDECESSORS: interrupt(bounds, 'c.instance <> $1::uuid'),
  /** `$1`: this instance, `$2`: the lease in milliseconds. For the open calls of dead instances. */
  SETTLE_DEAD: interrupt(bounds, isOfDeadInstance('c', { reaper: '$1', leaseMs: '$2' })),
})
