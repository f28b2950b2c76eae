import type { ErasedNames } from '#core/calls/conversation/derived-ids.ts'
import type { Sql } from '#core/database/database.ts'
import { identityInSql } from '#core/ledger/listed-conversations-sql.ts'
import { ADDED_TO_ROLLUPS } from '#core/ledger/roll-up-sql.ts'

/** An end user of an owner. */
export interface EndUser {
  readonly ownerId: string
  readonly endUser: string
}

/** How many keys and days one statement looks up, so that it takes some 100 ms at most. */
const LOOKUPS_AT_ONCE = 5_000

/**
 * The days (UTC) on which calls of this end user count, as texts for the database, the last one first. A day on which calls were
 * counted under `(other)` may be one of them.
 *
 * @param lastDays - only so many of the owner's last ones
 */
export async function daysOfLedger(
  sql: Sql,
  { ownerId, endUser }: EndUser,
  lastDays = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const [known] = await sql.query<KnownDays>(KNOWN_DAYS, [ownerId])
  if (known?.last === undefined || known.last === null) return []
  const count = Math.min(known.days, lastDays)
  const atOnce = Math.max(1, Math.floor(LOOKUPS_AT_ONCE / Math.max(1, known.keys)))
  const found: string[] = []
  for (let before = 0; before < count; before += atOnce) {
    const values = [ownerId, endUser, known.last, before, Math.min(before + atOnce, count) - 1]
    const days = await sql.query<{ readonly day: string }>(DAYS, values)
    found.push(...days.map(({ day }) => day))
  }
  return found
}

interface KnownDays {
  /** The last day on which the owner has calls; null if there is none. */
  readonly last: string | null
  /** How many days there are from the first one to the last one. */
  readonly days: number
  readonly keys: number
}

/** How the conversations of agents are listed that are in the ledger alone. */
export interface AgentsByContext {
  /** Their platforms keep a conversation also of a request that named none. */
  readonly atPlatform: readonly string[]
  /** They keep no conversations. */
  readonly none: readonly string[]
}

/**
 * Lists the conversations of an end user that have calls on this day and are not listed: those from before there was a list, and
 * those of requests that named none. What is listed is deleted at its platform, and is found by a repetition.
 */
export async function listFromLedger(
  sql: Sql,
  { ownerId, endUser }: EndUser,
  day: string,
  { atPlatform, none }: AgentsByContext,
): Promise<void> {
  await sql.query(LIST, [ownerId, endUser, day, JSON.stringify(atPlatform), JSON.stringify(none)])
}

/**
 * Puts the pseudonym in the place of the name, in the calls that ended and in the rollups of a day, in one statement. It moves whole
 * rows from one name to the other, so that every sum is the same before and after. Kept replies of the calls are deleted.
 *
 * @returns how many calls and rollups had the name
 */
export async function renameInLedger(
  sql: Sql,
  { ownerId, endUser }: EndUser,
  day: string,
  { pseudonym, conversationSalt }: ErasedNames,
): Promise<number> {
  const values = [ownerId, endUser, day, pseudonym, conversationSalt]
  const [row] = await sql.query<{ readonly renamed: number }>(RENAME, values)
  return row?.renamed ?? 0
}

/** The id with which a time begins. The ids of calls begin with the time, and the index of an owner's calls has them. */
const idAt = (time: string) =>
  `(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::int8), 12, '0') || repeat('0', 20))::uuid`

/**
 * The ids of the calls that were admitted on a day. An id is made by a process, before its call waits for a slot and is admitted, and
 * the time of its admission is the database's.
 */
const idsOf = (day: string) =>
  `c.id >= ${idAt(`(${day} - interval '6 hours')`)} AND c.id < ${idAt(`(${day} + interval '30 hours')`)}`

/** `$1` owner, `$2` end user, `$3` day. The day of a call is the one of its rollups. */
const CALLS_OF_DAY = `c.owner_id = $1::uuid AND c.end_user = $2 AND c.outcome IS NOT NULL
    AND c.admitted_at >= $3::timestamptz AND c.admitted_at < $3::timestamptz + interval '1 day' AND ${idsOf('$3::timestamptz')}`

const ROLLUP_KEY = 'span, grain, subject, bucket, end_user, kind, agent, app, model, outcome'
const keyOf = (row: string) =>
  ROLLUP_KEY.split(', ')
    .map((column) => `${row}.${column}`)
    .join(', ')

/** All keys that the owner ever had. */
const KEYS = `
  SELECT id::text AS subject FROM api_keys WHERE owner_id = $1::uuid
  UNION ALL SELECT id::text FROM removed_api_keys WHERE owner_id = $1::uuid`

/** `$1` owner. */
const KNOWN_DAYS = `
SELECT last::text AS last, coalesce(extract(day FROM last - first) + 1, 0)::int4 AS days,
  (SELECT count(*) FROM (${KEYS}) AS k)::int4 AS keys
FROM (
  SELECT min(bucket) AS first, max(bucket) AS last FROM rollups
  WHERE span = 'day' AND grain = 'owner' AND subject = $1::text
) AS known`

/**
 * `$1` owner, `$2` end user, `$3` a day, `$4` and `$5`: from how many days before it to how many. Each is looked up in the rollups of the
 * owner and of its keys by the beginning of their key.
 */
const DAYS = `
WITH keys AS MATERIALIZED (${KEYS}
)
SELECT day::text
FROM generate_series($4::int4, $5::int4) AS before
CROSS JOIN LATERAL (SELECT $3::timestamptz - before * interval '1 day' AS day) AS d
CROSS JOIN LATERAL (
  SELECT FROM rollups r
  WHERE r.span = 'day' AND r.grain = 'owner' AND r.subject = $1::text AND r.bucket = d.day
  ORDER BY ${keyOf('r')} LIMIT 1) AS called
CROSS JOIN LATERAL (
  SELECT FROM keys k CROSS JOIN (VALUES ($2::text), ('(other)')) AS n(name) CROSS JOIN LATERAL (
    SELECT FROM rollups r
    WHERE r.span = 'day' AND r.grain = 'end_user' AND r.subject = k.subject AND r.bucket = d.day AND r.end_user = n.name
    ORDER BY ${keyOf('r')} LIMIT 1) AS rolled
  WHERE n.name = $2 OR (
    SELECT c.id FROM calls c WHERE c.owner_id = $1::uuid AND ${idsOf('d.day')} ORDER BY c.owner_id, c.id LIMIT 1) IS NOT NULL
  LIMIT 1) AS named
ORDER BY before`

/** `$4` and `$5`: JSON arrays of {@link AgentsByContext}. */
const LIST = `
INSERT INTO listed_conversations (id, identity, owner_id, end_user, agent, app, conversation, created_at, last_activity_at)
SELECT DISTINCT ON (identity) (left(id::text, 15) || substr(gen_random_uuid()::text, 16))::uuid, identity, owner_id, end_user, agent, app,
  conversation, admitted_at, now()
FROM (
  SELECT c.*, ${identityInSql('c')} AS identity FROM calls c
  WHERE ${CALLS_OF_DAY} AND c.kind = 'chat' AND c.outcome <> 'rejected' AND c.conversation <> '' AND c.conversation <> c.id::text
    AND (c.agent = ANY (ARRAY(SELECT json_array_elements_text($4::json)))
      OR (c.face <> 'openai' AND c.agent <> ALL (ARRAY(SELECT json_array_elements_text($5::json)))))
) AS call
WHERE NOT EXISTS (
  SELECT FROM conversation_generations g WHERE g.identity = call.identity AND g.deleted_at >= call.admitted_at)
ORDER BY identity, admitted_at
ON CONFLICT (identity) DO NOTHING`

/**
 * `$4` the pseudonym, `$5` the salt of the ids of conversations.
 *
 * - Rollups are looked up by their whole key, in the hours and the day of the keys that have calls on it, and in its month. So a day
 *   costs a few looks at an index, however many end users there are. The rows are visited in the order in which settlements write them.
 * - A moved row keeps every column, also those that a newer version on the same database has added.
 * - A settlement that runs at the same time either has been added to a row before it is moved, or makes a new row of the old name,
 *   which the next look finds. It takes the name from the row of its call, so that no process writes a name that was replaced.
 * - Calls that run keep their names until they end, since what they store is found by it.
 */
const RENAME = `
WITH keys AS MATERIALIZED (
  SELECT k.subject
  FROM (${KEYS}
  ) k
  CROSS JOIN LATERAL (
    SELECT FROM rollups r
    WHERE r.span = 'day' AND r.grain = 'key' AND r.subject = k.subject AND r.bucket = $3::timestamptz
    ORDER BY ${keyOf('r')} LIMIT 1) AS called
), spans AS MATERIALIZED (
  SELECT 'hour'::rollup_span AS span, hour AS bucket
  FROM generate_series($3::timestamptz, $3::timestamptz + interval '23 hours', interval '1 hour') AS hour
  UNION ALL SELECT 'day', $3::timestamptz
  UNION ALL SELECT 'month', date_trunc('month', $3::timestamptz, 'UTC')
), found AS MATERIALIZED (
  SELECT r.*
  FROM keys k CROSS JOIN spans s CROSS JOIN LATERAL (
    SELECT ${ROLLUP_KEY} FROM rollups
    WHERE span = s.span AND grain = 'end_user' AND subject = k.subject AND bucket = s.bucket AND end_user = $2
    ORDER BY ${ROLLUP_KEY} LIMIT 1000000) AS r
  ORDER BY ${keyOf('r')}
), gone AS (
  DELETE FROM rollups r USING found f WHERE (${keyOf('r')}) = (${keyOf('f')}) RETURNING r AS rollup
), moved AS (
  INSERT INTO rollups AS r
  SELECT (jsonb_populate_record(rollup, jsonb_build_object('end_user', $4::text))).*
  FROM gone ORDER BY ${keyOf('(rollup)')}
  ${ADDED_TO_ROLLUPS}
), named AS (
  DELETE FROM rollup_names WHERE kind = 'end_user' AND subject = $1::text AND day = $3::timestamptz AND name = $2 RETURNING day
), entered AS (
  INSERT INTO rollup_names (kind, subject, day, name) SELECT 'end_user', $1::text, day, $4 FROM named
  ON CONFLICT DO NOTHING RETURNING day
), counted AS (
  UPDATE rollup_name_counts c SET names = c.names - 1 FROM named n
  WHERE c.kind = 'end_user' AND c.subject = $1::text AND c.day = n.day AND NOT EXISTS (SELECT FROM entered)
), renamed AS (
  UPDATE calls c
  SET end_user = $4, rating_text = NULL,
    conversation = CASE WHEN c.conversation IN ('', c.id::text) THEN c.conversation
      ELSE 'erased-' || left(encode(sha256(convert_to($5 || c.conversation, 'UTF8')), 'hex'), 24) END
  WHERE ${CALLS_OF_DAY}
  RETURNING c.id, c.conversation
), replies AS (
  UPDATE kept_calls k
  SET conversation = r.conversation, reply = NULL, bytes = 0, gone_at = coalesce(k.gone_at, now())
  FROM renamed r WHERE k.call_id = r.id AND k.ended_at IS NOT NULL
  RETURNING k.call_id
), parts AS (
  DELETE FROM reply_parts WHERE call_id IN (SELECT call_id FROM replies)
)
SELECT (SELECT count(*) FROM renamed)::int4 + (SELECT count(*) FROM gone)::int4 AS renamed`
