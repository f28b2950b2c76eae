import { sleep } from '#core/base/async/sleep.ts'
import type { Sql } from '#core/database/database.ts'
import { CALL_OF_CONVERSATION, identityInSql } from '#core/ledger/listed-conversations-sql.ts'
import type { ConversationName } from './derived-ids.ts'

/** What the ledger has of a conversation before a call: no turn, one that still runs, or one that the platform may have stored. */
export type EarlierTurns = 'none' | 'running' | 'some'

/**
 * Tells whether a conversation that its client names is new. The ledger learns of the end of a call a moment after its client does, so
 * where a call seems to run, this looks again. It is a statement of its own and no part of the admission, which all callers share, because an owner
 * may have thousands of failed calls under one name.
 *
 * @param callId - the call that asks, once it was admitted; only those before it count
 */
export async function earlierTurns(sql: Sql, name: ConversationName, callId?: string): Promise<EarlierTurns> {
  const { ownerId, endUser, agent, app, conversation } = name
  for (const waitMs of LOOK_AGAIN_MS) {
    const [found] = await sql.query<{ readonly turns: EarlierTurns }>(FIND, [
      ...[ownerId, endUser, agent, app, conversation, callId ?? null],
    ])
    if (found?.turns !== 'running') return found?.turns ?? 'none'
    await sleep(waitMs)
  }
  return 'running'
}

/** Settlements are written every 20 ms or so. */
const LOOK_AGAIN_MS = [30, 70, 100, 0]

/**
 * `$1` owner, `$2` end user, `$3` agent, `$4` app, `$5` conversation, `$6` the call that asks. A process that died did not tell whether
 * its calls have left a turn, and rows of earlier versions say it only by their success.
 */
const FIND = `
WITH earlier AS NOT MATERIALIZED (
  SELECT c.outcome IS NULL AS is_open, coalesce(c.has_turn, c.outcome = 'done', false) AS has_turn
  FROM (
    SELECT name.*, g.deleted_at AS since
    FROM (
      SELECT $1::uuid AS owner_id, $2::text AS end_user, $3::text AS agent, $4::text AS app, $5::text AS conversation
    ) AS name
    LEFT JOIN conversation_generations g ON g.identity = ${identityInSql('name')}
  ) AS l
  JOIN calls c ON ${CALL_OF_CONVERSATION} AND ($6::uuid IS NULL OR c.id < $6::uuid)
  ORDER BY c.id DESC LIMIT 1000
)
SELECT CASE
  WHEN EXISTS (SELECT FROM earlier WHERE has_turn) THEN 'some'
  WHEN EXISTS (SELECT FROM earlier WHERE is_open) THEN 'running'
  ELSE 'none'
END AS turns`
