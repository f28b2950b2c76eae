import { ADMISSION_COLUMNS, COUNTED, judged } from './admission-sql.ts'
import { PAUSE_ANSWER, PAUSES_TAKEN } from './pause-claims-sql.ts'

/**
 * `ADMIT` for calls that claim something: a kept call its `Idempotency-Key`, a call that answers the pause at which a run waits.
 *
 * - Calls that are refused for another reason claim nothing. A call whose key is known to be claimed is attached to the earlier
 *   call, which needs no quota. Of further calls with one key only the first is a candidate, since an `INSERT` may not meet a
 *   row twice; the others are attached to whatever has the key in the end.
 * - The statement sees what was committed before it began, but it may have waited for its locks since then. Only a conflict of
 *   the `INSERT` shows the claims that were made meanwhile, and only `DO UPDATE` returns them: `DO NOTHING` returns no row. The
 *   update changes nothing.
 * - Claims are locked after users and keys, in the order of their primary key, as every statement that frees several must do.
 * - A call over its quota claims nothing, and those that follow it in its batch get its refusal.
 * - Of calls that claim the same pause one gets it, and the others are `pause_over`. The update waits for a statement that is about to
 *   commit its claim, and then finds the pause claimed. A pause is taken before the key, so that a call which comes too late leaves
 *   no claim behind; whether it is a repetition of the one in time is looked up afterwards.
 * - Each answer has a fifth element: the id of the earlier call, if the call is attached to one.
 */
export const ADMIT_KEPT = `${judged(`${ADMISSION_COLUMNS},
    idempotency_hash text, fingerprint text, stream boolean`)}, known AS MATERIALIZED (
  SELECT j.*, j.refusal IS NULL AND NOT j.is_repeat AS is_valid, decode(j.idempotency_hash, 'hex') AS claim,
    c.call_id AS known_call, c.fingerprint AS known_fingerprint
  FROM judged j
  LEFT JOIN LATERAL (
    SELECT c.call_id, c.fingerprint FROM idempotency_keys c
    WHERE c.key_id = j.key_id AND c.hash = decode(j.idempotency_hash, 'hex') AND j.refusal IS NULL AND NOT j.is_repeat
    LIMIT 1) c ON true
), firsts AS MATERIALIZED (
  SELECT k.*, k.is_valid AND k.known_call IS NULL AND (
      k.claim IS NULL OR row_number() OVER (PARTITION BY k.key_id, k.claim, k.is_valid ORDER BY k.n) = 1) AS is_candidate
  FROM known k
), ranked AS MATERIALIZED (
  SELECT f.*, count(*) FILTER (WHERE f.is_candidate AND f.kind = 'chat') OVER (PARTITION BY f.owner_id ORDER BY f.n) AS chat_rank
  FROM firsts f
), within_quota AS MATERIALIZED (
  SELECT * FROM ranked WHERE is_candidate AND (kind <> 'chat' OR used + chat_rank <= max_api_calls)
${PAUSES_TAKEN}), claimed AS (
  INSERT INTO idempotency_keys AS c (key_id, hash, fingerprint, call_id)
  SELECT key_id, claim, decode(fingerprint, 'hex'), id FROM answering WHERE claim IS NOT NULL ORDER BY key_id, claim
  ON CONFLICT (key_id, hash) DO UPDATE SET call_id = c.call_id
  RETURNING c.key_id, c.hash, c.call_id, c.fingerprint
), admitted AS MATERIALIZED (
  SELECT * FROM answering WHERE claim IS NULL OR id IN (SELECT call_id FROM claimed)
)${COUNTED}, kept AS (
  INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance)
  SELECT id, key_id, owner_id, claim, face, conversation, stream, $2::uuid
  FROM admitted
  WHERE claim IS NOT NULL AND id IN (SELECT id FROM written)
)
SELECT coalesce(json_agg(json_build_array(
    CASE
      WHEN r.is_repeat OR r.id IN (SELECT id FROM written) THEN NULL
      WHEN e.call_id IS NULL THEN coalesce(r.refusal,
        CASE WHEN r.claims IN (SELECT claims FROM within_quota) THEN 'pause_over' END, 'quota_exceeded')
      WHEN e.fingerprint <> decode(r.fingerprint, 'hex') THEN 'idempotency_mismatch'
    END,
    r.key_id, r.owner_id, r.max_api_calls, e.call_id, ${PAUSE_ANSWER}, r.generation, r.quota_period) ORDER BY r.n), '[]') AS answers
FROM ranked r
LEFT JOIN claimed c ON r.is_valid AND c.key_id = r.key_id AND c.hash = r.claim
LEFT JOIN LATERAL (
  SELECT coalesce(r.known_call, c.call_id) AS call_id, coalesce(r.known_fingerprint, c.fingerprint) AS fingerprint
) e ON e.call_id <> r.id`

/**
 * Frees the `Idempotency-Key`s of calls that were admitted too late for their callers, as if they had never been kept, and opens the
 * pauses that they have claimed. `$1`: a
 * JSON array of call ids, `$2`: the instance of this process. The claims are locked in the order of their primary key, as in
 * {@link ADMIT_KEPT}.
 */
export const FREE_LATE = `
WITH dropped AS (
  DELETE FROM kept_calls
  WHERE call_id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json))) AND instance = $2::uuid
  RETURNING call_id, key_id, key_hash
), claims AS MATERIALIZED (
  SELECT c.key_id, c.hash
  FROM idempotency_keys c JOIN dropped d ON c.key_id = d.key_id AND c.hash = d.key_hash AND c.call_id = d.call_id
  ORDER BY c.key_id, c.hash
  FOR UPDATE OF c
), opened AS (
  UPDATE pauses SET claimed_by = NULL, claimed_at = NULL
  WHERE claimed_by = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))
)
DELETE FROM idempotency_keys c USING claims WHERE c.key_id = claims.key_id AND c.hash = claims.hash`
