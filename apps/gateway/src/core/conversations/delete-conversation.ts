import { whoIs } from '#core/audit/actor.ts'
import { eventJson } from '#core/audit/audit.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { ConversationName } from '#core/calls/conversation/derived-ids.ts'
import type { Sql } from '#core/database/database.ts'
import { CALL_OF_CONVERSATION } from '#core/ledger/listed-conversations-sql.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type AtPlatform, NotServed, type Place } from './at-platform.ts'
import type { Conversation } from './conversation-rows.ts'

export interface DeletedConversation {
  readonly id: string
  /** `unsupported` where the platform has no such call, or nothing of the conversation. */
  readonly atPlatform: 'deleted' | 'unsupported'
}

export interface DeleteDeps {
  readonly sql: Sql
  readonly atPlatform: AtPlatform
}

/** Longer than the platform may take. A process that dies meanwhile keeps the conversation closed no longer. */
const CLOSED_SECONDS = 60

/**
 * Deletes a conversation: first at its platform, then here. No call of it is admitted meanwhile. Where the platform fails, nothing is
 * deleted, so that a repetition finishes it.
 *
 * @throws Problem `conversation_busy` while a call of it runs, or another deletion; those of {@link AtPlatform.ask}
 */
export function deleteConversation(
  deps: DeleteDeps,
  caller: Principal,
  conversation: Conversation,
): Promise<DeletedConversation> {
  const { id, agent, app, ownerId } = conversation
  return whileClosed(deps, id, async () => {
    const { place, stored } = await deps.atPlatform.find(conversation)
    const atPlatform = await removeAt(deps, place)
    const event = eventJson(whoIs(caller), {
      operation: 'conversations.remove',
      target: 'conversation',
      targetId: id,
      before: { owner_id: ownerId, agent, app },
      after: { at_platform: atPlatform },
    })
    await deps.sql.query(DELETE, [id, stored.key, event])
    return { id, atPlatform }
  })
}

/**
 * The same for an erasure, which is one event of the audit log for all conversations of its end user. What no platform of the
 * configuration has any more is deleted here, since no repetition could do more.
 *
 * @throws Problem what {@link deleteConversation} throws
 */
export function eraseConversation(
  deps: DeleteDeps,
  conversation: ConversationName & Pick<Conversation, 'id'>,
): Promise<DeletedConversation> {
  const { id } = conversation
  return whileClosed(deps, id, async () => {
    const { place, stored } = await deps.atPlatform.find(conversation).catch(async (error: unknown) => {
      if (!(error instanceof NotServed)) throw error
      return { place: undefined, stored: await deps.atPlatform.stored(conversation) }
    })
    const atPlatform = await removeAt(deps, place)
    await deps.sql.query(DELETE, [id, stored.key, null])
    return { id, atPlatform }
  })
}

async function removeAt(
  { atPlatform }: DeleteDeps,
  place: Place | undefined,
): Promise<DeletedConversation['atPlatform']> {
  const remove = place?.calls.remove?.(place.conversation)
  if (place === undefined || remove === undefined) return 'unsupported'
  await atPlatform.ask(place, remove)
  return 'deleted'
}

/** Deletes while no call of the conversation is admitted; where that fails, its calls are admitted again. */
async function whileClosed(
  { sql }: DeleteDeps,
  id: string,
  remove: () => Promise<DeletedConversation>,
): Promise<DeletedConversation> {
  const [closed] = await sql.query(CLOSE, [id, CLOSED_SECONDS])
  if (closed === undefined) throw new Problem('conversation_busy')
  try {
    // Read after the conversation was closed: what was admitted before is there by now.
    const [running] = await sql.query(RUNNING, [id])
    if (running !== undefined) throw new Problem('conversation_busy')
    return await remove()
  } catch (error) {
    // A repetition finishes it, and need not wait until the time is over.
    await sql.query(OPEN, [id]).catch(() => undefined)
    throw error
  }
}

const LISTED = 'listed_conversations l LEFT JOIN conversation_generations g ON g.identity = l.identity'

/**
 * `$1` the conversation, `$2` seconds. Like an admission it locks the owner first, so that those that have begun before are over.
 * Returns a row unless the conversation is closed or gone.
 */
const CLOSE = `
WITH owner AS MATERIALIZED (
  SELECT u.id FROM users u WHERE u.id = (SELECT owner_id FROM listed_conversations WHERE id = $1::uuid) FOR NO KEY UPDATE
)
INSERT INTO conversation_generations AS g (identity, deleting_until)
SELECT identity, now() + $2 * interval '1 second' FROM listed_conversations
WHERE id = $1::uuid AND (SELECT count(*) FROM owner) >= 0
ON CONFLICT (identity) DO UPDATE SET deleting_until = excluded.deleting_until
WHERE g.deleting_until IS NULL OR g.deleting_until <= now()
RETURNING identity`

/** `$1` the conversation: whether a call of it runs. */
const RUNNING = `
SELECT c.id FROM (SELECT l.*, g.deleted_at AS since FROM ${LISTED} WHERE l.id = $1::uuid) AS l
JOIN calls c ON ${CALL_OF_CONVERSATION} AND c.outcome IS NULL
LIMIT 1`

/** `$1` the conversation. */
const OPEN = `
UPDATE conversation_generations SET deleting_until = NULL
WHERE identity = (SELECT identity FROM listed_conversations WHERE id = $1::uuid)`

/**
 * `$1` the conversation, `$2` its key, `$3` the event of the audit log, if it is one of its own. The ledger keeps its calls, without
 * what was said of their answers. A kept reply stays known as gone, so that its `Idempotency-Key` begins no second run.
 */
const DELETE = `
WITH gone AS (
  DELETE FROM listed_conversations WHERE id = $1::uuid RETURNING *, NULL::timestamptz AS since
), begun_anew AS (
  INSERT INTO conversation_generations AS g (identity, generation, deleted_at)
  SELECT identity, 1, now() FROM gone
  ON CONFLICT (identity) DO UPDATE SET generation = g.generation + 1, deleting_until = NULL, deleted_at = excluded.deleted_at
), mapping AS (
  DELETE FROM conversations WHERE key = $2
), turns_gone AS (
  DELETE FROM turns WHERE conversation = $2
), pauses_gone AS (
  DELETE FROM pauses p USING gone l
  WHERE p.owner_id = l.owner_id AND p.conversation = l.conversation AND p.agent = l.agent AND p.app = l.app AND p.end_user = l.end_user
), remarks_gone AS (
  UPDATE calls SET rating_text = NULL
  WHERE id IN (SELECT c.id FROM gone l JOIN calls c ON ${CALL_OF_CONVERSATION}) AND rating_text IS NOT NULL
), replies_gone AS (
  UPDATE kept_calls k SET gone_at = coalesce(k.gone_at, now()), reply = NULL, bytes = 0
  FROM gone l JOIN calls c ON ${CALL_OF_CONVERSATION}
  WHERE k.call_id = c.id AND k.ended_at IS NOT NULL
  RETURNING k.call_id
), parts_gone AS (
  DELETE FROM reply_parts WHERE call_id IN (SELECT call_id FROM replies_gone)
)
SELECT CASE WHEN $3::jsonb IS NOT NULL THEN audit_append($3::jsonb) END FROM gone`
