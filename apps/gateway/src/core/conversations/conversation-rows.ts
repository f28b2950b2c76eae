import type { Sql } from '#core/database/database.ts'
import { CALL_OF_CONVERSATION, OF_CONVERSATION } from '#core/ledger/listed-conversations-sql.ts'

/** A conversation of an end user with an agent and its app. */
export interface Conversation {
  readonly id: string
  readonly ownerId: string
  /** The id by which the client names it; unique only among those of its owner, end user, agent and app. */
  readonly conversation: string
  readonly agent: string
  readonly app: string
  /** Empty where the calls named none. */
  readonly endUser: string
  readonly name: string | null
  readonly createdAt: Date
  /** Accurate to a minute. */
  readonly lastActivityAt: Date
  /** The complete answers, as far as the ledger has them; at most {@link TURNS_COUNTED}. */
  readonly turns: number
  /** Null while the last call is running, and where the ledger has none any more. */
  readonly lastOutcome: string | null
  /** Whether a run waits for its user. */
  readonly paused: boolean
  /** The open question at which it waits; null if there is none. */
  readonly pauseId: string | null
  /** When an earlier one with the same id was deleted, whose calls do not belong to this one; null if there was none. */
  readonly since: Date | null
}

/** A longer conversation is not counted to its end, since a page of a list has many. */
export const TURNS_COUNTED = 1_000

/** The conversations with these ids, in no particular order, with what the ledger knows of each. */
export async function readConversations(sql: Sql, ids: readonly string[]): Promise<Conversation[]> {
  if (ids.length === 0) return []
  const rows = await sql.query<ConversationRow>(READ, [JSON.stringify(ids)])
  return rows.map((row) => ({
    id: row.id,
    ownerId: row.owner_id,
    conversation: row.conversation,
    agent: row.agent,
    app: row.app,
    endUser: row.end_user,
    name: row.name,
    createdAt: row.created_at,
    lastActivityAt: row.last_activity_at,
    turns: row.turns,
    lastOutcome: row.last_outcome,
    paused: row.pause_id !== null,
    pauseId: row.pause_id,
    since: row.since,
  }))
}

interface ConversationRow {
  readonly id: string
  readonly owner_id: string
  readonly conversation: string
  readonly agent: string
  readonly app: string
  readonly end_user: string
  readonly name: string | null
  readonly created_at: Date
  readonly last_activity_at: Date
  readonly turns: number
  readonly last_outcome: string | null
  readonly pause_id: string | null
  readonly since: Date | null
}

/** `$1`: a JSON array of ids. */
const READ = `
WITH listed AS MATERIALIZED (
  SELECT l.*, g.deleted_at AS since
  FROM listed_conversations l LEFT JOIN conversation_generations g ON g.identity = l.identity
  WHERE l.id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))
)
SELECT l.id::text, l.owner_id::text, l.conversation, l.agent, l.app, l.end_user, l.name, l.created_at, l.last_activity_at, l.since,
  counted.turns, latest.outcome AS last_outcome,
  (
    SELECT c.id::text FROM pauses c
    WHERE ${OF_CONVERSATION} AND c.claimed_by IS NULL AND (c.expires_at IS NULL OR c.expires_at > now())
    ORDER BY c.id DESC LIMIT 1
  ) AS pause_id
FROM listed l
LEFT JOIN LATERAL (
  SELECT c.outcome FROM calls c WHERE ${CALL_OF_CONVERSATION} ORDER BY c.id DESC LIMIT 1
) AS latest ON true
CROSS JOIN LATERAL (
  SELECT count(*)::int4 AS turns FROM (
    SELECT FROM calls c WHERE ${CALL_OF_CONVERSATION} AND c.outcome = 'done' LIMIT ${TURNS_COUNTED}) AS turn
) AS counted`
