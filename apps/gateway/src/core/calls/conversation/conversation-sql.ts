import { identityInSql } from '#core/ledger/listed-conversations-sql.ts'

/** The most turns that one statement stores. */
export const REMEMBERED_AT_ONCE = 64

/**
 * `$1` key, `$2` owner, `$3` agent, `$4` call, `$5` lease in seconds, `$6` deployment, `$7` state. The time of the last use is
 * updated at most once a day, because every change of it costs an index entry. A conversation moves to another deployment
 * together with its holder, which has no id at the platform yet.
 */
export const ENTER = `
INSERT INTO conversations AS c (key, owner_id, agent, holder, lease_until, created_at, used_at, deployment, state)
VALUES ($1, $2::uuid, $3, $4::uuid, now() + $5 * interval '1 second', now(), now(), $6, $7)
ON CONFLICT (key) DO UPDATE SET
  deployment = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.deployment ELSE c.deployment END,
  state = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.state ELSE c.state END,
  used_at = CASE WHEN c.used_at < now() - interval '1 day' THEN now() ELSE c.used_at END,
  holder = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.holder ELSE c.holder END,
  lease_until = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.lease_until ELSE c.lease_until END
RETURNING platform_id, holder = $4::uuid AS is_holder, lost_at IS NOT NULL AS is_lost, deployment, state`

/**
 * `$1` key, `$2` owner, `$3` agent, `$4` call, `$5` deployment, `$6` state. The id at the platform is derived, so the key stands
 * for it. The call that has made the row may move it as long as it is its holder; a second call that enters ends that.
 */
export const SETTLE = `
INSERT INTO conversations AS c (key, owner_id, agent, platform_id, holder, created_at, used_at, deployment, state)
VALUES ($1, $2::uuid, $3, $1, $4::uuid, now(), now(), $5, $6)
ON CONFLICT (key) DO UPDATE SET
  used_at = CASE WHEN c.used_at < now() - interval '1 day' THEN now() ELSE c.used_at END,
  deployment = CASE WHEN c.holder = excluded.holder THEN excluded.deployment ELSE c.deployment END,
  state = CASE WHEN c.holder = excluded.holder THEN excluded.state ELSE c.state END,
  holder = CASE WHEN c.holder = excluded.holder THEN c.holder END
RETURNING deployment, state`

/**
 * `$1` key, `$2` to `$6` what names the conversation. A row without an id whose lease has expired is of a call that has left nothing
 * behind.
 */
export const READ = `
SELECT c.deployment, c.state, c.platform_id, c.key IS NOT NULL AS is_known, g.generation
FROM (SELECT $2::uuid AS owner_id, $3::text AS end_user, $4::text AS agent, $5::text AS app, $6::text AS conversation) AS name
LEFT JOIN conversations c ON c.key = $1 AND (c.platform_id IS NOT NULL OR c.lease_until > now())
LEFT JOIN conversation_generations g ON g.identity = ${identityInSql('name')}`

/**
 * `$1` owner, `$2` conversation, `$3` agent, `$4` app, `$5` end user. Of calls since there are rows only complete ones count: the
 * row of such a conversation was swept, and that of a call without a turn was taken back.
 */
export const EARLIER_CALL = `
SELECT deployment FROM calls
WHERE owner_id = $1::uuid AND conversation = $2 AND agent = $3 AND app = $4 AND end_user = $5 AND kind = 'chat'
  AND (outcome = 'done' OR (deployment IS NULL AND attempts IS NULL)) AND outcome IS NOT NULL
ORDER BY deployment IS NULL, id DESC LIMIT 1`

export const RENEW = `
UPDATE conversations SET lease_until = now() + $3 * interval '1 second'
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

export const BIND = `
UPDATE conversations SET platform_id = $3
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

export const RELEASE = `
UPDATE conversations SET lease_until = now()
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

/**
 * The latest turns that fit together, oldest first. `$1` conversation, `$2` turns at most, `$3` characters at most. The
 * sizes are summed from their own column, so that only the texts that are sent are read.
 */
export const TURNS = `
SELECT question, answer, is_escaped
FROM (
  SELECT id, created_at, question, answer, is_escaped,
    sum(characters) OVER (ORDER BY created_at DESC, id DESC) AS characters
  FROM (
    SELECT id, created_at, question, answer, is_escaped, characters
    FROM turns WHERE conversation = $1
    ORDER BY created_at DESC, id DESC LIMIT $2
  ) latest
) summed
WHERE characters <= $3
ORDER BY created_at, id`

/**
 * Stores turns and deletes the older ones that no longer fit the bounds, so that a conversation takes no more space than
 * what is sent again. `$1`: a JSON array of turns, `$2` turns and `$3` characters at most.
 *
 * - The end of a reply waits for its turn to be visible, so the commit does not wait for the disk. A crash of the database
 *   server may lose the turns of its last moments, but no usage counts.
 * - The planner estimates 100 rows for any JSON. The limit in the lateral join and the deletion by `ctid` make it use the
 *   index and the rows themselves, whatever its statistics say about the table.
 */
export const REMEMBER = `
WITH quick AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true) AS mode
), given AS MATERIALIZED (
  SELECT t.*
  FROM json_to_recordset($1::json) AS t(
    id uuid, conversation text, question text, answer text, is_escaped boolean, characters int)
  WHERE (SELECT count(mode) FROM quick) > 0
), placed AS MATERIALIZED (
  SELECT id, stored_at, row_number() OVER latest_first <= $2 AND sum(characters) OVER latest_first <= $3 AS fits
  FROM (
    SELECT conversation, id, now() AS created_at, characters, NULL::tid AS stored_at FROM given
    UNION ALL
    SELECT c.conversation, s.id, s.created_at, s.characters, s.ctid
    FROM (SELECT DISTINCT conversation FROM given) c
    CROSS JOIN LATERAL (
      SELECT id, created_at, characters, ctid FROM turns
      WHERE turns.conversation = c.conversation
      ORDER BY created_at DESC, id DESC LIMIT $2 + ${REMEMBERED_AT_ONCE}
    ) s
  ) every
  WINDOW latest_first AS (PARTITION BY conversation ORDER BY created_at DESC, id DESC)
), written AS (
  INSERT INTO turns (id, conversation, question, answer, is_escaped, characters, created_at)
  SELECT id, conversation, question, answer, is_escaped, characters, now()
  FROM given
  WHERE id IN (SELECT id FROM placed WHERE fits)
)
DELETE FROM turns
WHERE ctid = ANY (ARRAY(SELECT stored_at FROM placed WHERE stored_at IS NOT NULL AND NOT fits))`

/**
 * `$1` days, `$2` rows at most. The condition on the characters matches the partial index, which is used only with it.
 * Replicas that sweep at the same time skip the rows that the other has locked.
 */
export const SWEEP_TURNS = `
DELETE FROM turns
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM turns WHERE created_at < now() - $1 * interval '1 day' AND characters >= 0
  ORDER BY created_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`

/** `$1` days, `$2` rows at most. Taking the lock checks the condition again, so a conversation that was just used is kept. */
export const SWEEP_MAPPINGS = `
DELETE FROM conversations
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM conversations WHERE used_at < now() - $1 * interval '1 day'
  ORDER BY used_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING key`

/**
 * `$1` days, `$2` rows at most. A generation separates the conversation from a deleted one, for all its calls that the ledger still has,
 * and for what a platform still finds under the earlier id. So it is kept as long as either the ledger or the list may know a call of
 * the conversation. What a deletion that failed has left behind means nothing.
 */
export const SWEEP_GENERATIONS = `
DELETE FROM conversation_generations
WHERE ctid = ANY (ARRAY(
  SELECT g.ctid FROM conversation_generations g
  WHERE g.deleted_at < now() - $1 * interval '1 day'
    AND (g.deleting_until IS NULL OR g.deleting_until < now() - interval '1 day')
    -- As a scalar, because an anti-join may be planned with a scan of the whole list.
    AND COALESCE((SELECT false FROM listed_conversations l WHERE l.identity = g.identity LIMIT 1), true)
  ORDER BY g.deleted_at LIMIT $2
  FOR UPDATE OF g SKIP LOCKED)
|| ARRAY(
  SELECT ctid FROM conversation_generations
  WHERE deleted_at IS NULL AND generation = 0
    AND (deleting_until IS NULL OR deleting_until < now() - interval '1 day')
  LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING identity`

/** `$1` days, `$2` rows at most. They are listed as long as their mappings are kept. */
export const SWEEP_LISTED = `
DELETE FROM listed_conversations
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM listed_conversations WHERE last_activity_at < now() - $1 * interval '1 day'
  ORDER BY last_activity_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`
