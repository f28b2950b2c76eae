/**
 * The remainder of a statement whose CTE `settled` returns the calls that it ended; `is_listed` says which of them belong to
 * conversations that their clients can go on with. It lists those conversations, each once.
 *
 * - A row is looked up first and left alone within a minute of its last update. So most calls pay one look at an index, and neither a
 *   lock nor an index entry.
 * - Rows are written in the order of their identities. Concurrent settlements update the same rows and would deadlock otherwise.
 * - The id has the time of the conversation's first call, so that ids sort by time as all others do, and is random otherwise.
 */
export const LISTED = `
, spoken AS MATERIALIZED (
  SELECT DISTINCT ON (identity) *
  FROM (
    SELECT ${identityInSql('s')} AS identity, s.id, owner_id, end_user, agent, app, conversation, conversation_name, admitted_at
    FROM settled s WHERE is_listed AND outcome <> 'rejected'
  ) AS call
  ORDER BY identity, admitted_at
), listed AS (
  INSERT INTO listed_conversations AS l (id, identity, owner_id, end_user, agent, app, conversation, name, created_at, last_activity_at)
  SELECT (left(id::text, 15) || substr(gen_random_uuid()::text, 16))::uuid, identity, owner_id, end_user, agent, app, conversation,
    conversation_name, admitted_at, now()
  FROM spoken t
  WHERE NOT EXISTS (
    SELECT FROM listed_conversations k WHERE k.identity = t.identity AND k.last_activity_at > now() - interval '1 minute')
  ORDER BY identity
  ON CONFLICT (identity) DO UPDATE SET last_activity_at = excluded.last_activity_at
  WHERE l.last_activity_at < excluded.last_activity_at
)`

/** The identity of a conversation, of a row that has these columns. An array in JSON separates its elements whatever they contain. */
export function identityInSql(row: string): string {
  const parts = ['owner_id', 'end_user', 'agent', 'app', 'conversation'].map((column) => `${row}.${column}`)
  return `sha256(convert_to(json_build_array(${parts.join(', ')})::text, 'UTF8'))`
}

/** The condition that a row `c` belongs to the conversation `l`. The first two columns have an index. */
export const OF_CONVERSATION = `c.owner_id = l.owner_id AND c.conversation = l.conversation AND c.agent = l.agent AND c.app = l.app
    AND c.end_user = l.end_user`

/** The same for a call `c`. It excludes calls of a deleted conversation that had the same id. */
export const CALL_OF_CONVERSATION = `${OF_CONVERSATION} AND c.kind = 'chat' AND (l.since IS NULL OR c.admitted_at > l.since)`
