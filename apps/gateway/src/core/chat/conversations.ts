import type { CallMessage } from '#core/agents/adapter.ts'
import { createBatcher } from '#core/batcher.ts'
import { isLostConnection, isStatementTimeout } from '#core/database/connection-error.ts'
import type { Sql } from '#core/database/database.ts'
import { withDeadline } from '#core/deadline.ts'
import { Problem } from '#core/errors.ts'
import type { Runtime } from '#core/runtime.ts'
import { sleep } from '#core/sleep.ts'

/** A conversation that a platform named itself: who uses it first gets it from the platform, the others wait. */
export interface Mapping {
  /** The platform's id; undefined for the call that is to get it. */
  readonly platformId: string | undefined
  /** Binds what the platform's reply named. Later calls see it when this resolves. */
  bind(platformId: string): Promise<void>
  /** The platform gave no id: who waits takes over. */
  release(): Promise<void>
  /** The platform does not know the conversation any more: from now on nobody gets it. */
  lose(): Promise<void>
}

export interface Conversations {
  /**
   * @throws Problem `conversation_busy` where another call is still getting it after `waitMs`, `conversation_not_found`
   * where it was lost
   */
  enter(request: EnterRequest): Promise<Mapping>
  /** The latest completed turns that fit the bounds, oldest first. */
  turns(key: string): Promise<readonly CallMessage[]>
  /**
   * Resolves when the next turn, on whatever replica, sees this one. A turn that could never be sent again is not stored,
   * and neither is what came before it: turns are sent without gaps.
   */
  remember(key: string, callId: string, question: string, answer: string): Promise<void>
  /** Forgets what agents that lost their memory called their conversations. */
  forget(agentIds: readonly string[]): Promise<void>
  /** Deletes a bounded number of rows that are past their retention; returns how many. */
  sweep(): Promise<number>
}

export interface EnterRequest {
  readonly key: string
  readonly ownerId: string
  readonly agent: string
  readonly callId: string
  readonly waitMs: number
  /** Whether the caller is gone meanwhile. */
  isOver(): boolean
}

export interface ConversationsDeps {
  readonly sql: Sql
  readonly runtime: Runtime
  readonly bounds: {
    readonly maxTurns: number
    readonly maxCharacters: number
    readonly retentionDays: number
    /** How long the platform's id of a conversation is kept after its last use. */
    readonly mappingRetentionDays: number
  }
}

/** A holder that died is replaced after so long; a living one renews. */
const LEASE_SECONDS = 15
const RENEW_MS = 5_000
const LOOK_AGAIN_MS = 100
/** A reply waits for its turn, which may be in a batch that is run again in parts after it took too long. */
const REMEMBER_WITHIN_MS = 15_000
const SWEPT_AT_ONCE = 1_000

export function createConversations(deps: ConversationsDeps): Conversations {
  const { sql, runtime, bounds } = deps

  const remember = createBatcher<TurnRow, void>(
    async (turns) => {
      await sql.query(REMEMBER, [JSON.stringify(turns), bounds.maxTurns, bounds.maxCharacters])
      return turns.map(() => undefined)
    },
    { sizeMax: REMEMBERED_AT_ONCE, isShared: isLostConnection, isTooSlow: isStatementTimeout },
  )

  async function look(request: EnterRequest): Promise<MappingRow> {
    const { key, ownerId, agent, callId } = request
    const [row] = await sql.query<MappingRow>(ENTER, [key, ownerId, agent, callId, LEASE_SECONDS])
    if (row === undefined) throw new Error('the conversation could not be entered')
    if (row.is_lost) throw new Problem('conversation_not_found')
    return row
  }

  return {
    async enter(request) {
      const untilMs = runtime.elapsedMs() + request.waitMs
      for (;;) {
        const row = await look(request)
        if (row.platform_id !== null) return bound(sql, request.key, row.platform_id)
        if (row.is_holder) return pending(sql, request)
        if (runtime.elapsedMs() >= untilMs || request.isOver()) throw new Problem('conversation_busy')
        await sleep(LOOK_AGAIN_MS)
      }
    },
    async turns(key) {
      const rows = await sql.query<KeptTurn>(TURNS, [key, bounds.maxTurns, bounds.maxCharacters])
      return rows.flatMap(messagesOf)
    },
    remember: (key, callId, question, answer) =>
      withDeadline(
        REMEMBER_WITHIN_MS,
        remember({
          id: callId,
          conversation: key,
          characters: question.length + answer.length,
          ...storable(question, answer, bounds.maxCharacters),
        }),
      ),
    async forget(agentIds) {
      await sql.query('DELETE FROM conversations WHERE agent = ANY ($1)', [agentIds])
    },
    async sweep() {
      const turns = await sql.query(SWEEP_TURNS, [bounds.retentionDays, SWEPT_AT_ONCE])
      const mappings = await sql.query(SWEEP_MAPPINGS, [bounds.mappingRetentionDays, SWEPT_AT_ONCE])
      return turns.length + mappings.length
    },
  }
}

interface MappingRow {
  readonly platform_id: string | null
  readonly is_holder: boolean
  readonly is_lost: boolean
}

interface KeptTurn {
  readonly question: string
  readonly answer: string
  readonly is_escaped: boolean
}

interface TurnRow extends KeptTurn {
  readonly id: string
  readonly conversation: string
  /** UTF-16 units of both texts. */
  readonly characters: number
}

/** How many turns travel in one statement. */
const REMEMBERED_AT_ONCE = 64

function bound(sql: Sql, key: string, platformId: string): Mapping {
  return {
    platformId,
    bind: async () => undefined,
    release: async () => undefined,
    async lose() {
      await sql.query('UPDATE conversations SET lost_at = now() WHERE key = $1 AND platform_id = $2', [
        key,
        platformId,
      ])
    },
  }
}

/** Held by this call until the platform has named the conversation: a row with a lease, no transaction. */
function pending(sql: Sql, { key, callId }: EnterRequest): Mapping {
  const renewal = setInterval(() => {
    sql.query(RENEW, [key, callId, LEASE_SECONDS]).catch(() => undefined)
  }, RENEW_MS)
  renewal.unref()
  const letGo = async (statement: string, values: readonly unknown[]) => {
    clearInterval(renewal)
    await sql.query(statement, values)
  }
  return {
    platformId: undefined,
    bind: (platformId) => letGo(BIND, [key, callId, platformId]),
    release: () => letGo(RELEASE, [key, callId]),
    lose: () => letGo(RELEASE, [key, callId]),
  }
}

/**
 * `$1` key, `$2` owner, `$3` agent, `$4` call, `$5` lease in seconds. The time of the last use is exact to a day, because
 * each time that it changes costs an entry in its index.
 */
const ENTER = `
INSERT INTO conversations AS c (key, owner_id, agent, holder, lease_until, created_at, used_at)
VALUES ($1, $2::uuid, $3, $4::uuid, now() + $5 * interval '1 second', now(), now())
ON CONFLICT (key) DO UPDATE SET
  used_at = CASE WHEN c.used_at < now() - interval '1 day' THEN now() ELSE c.used_at END,
  holder = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.holder ELSE c.holder END,
  lease_until = CASE WHEN c.platform_id IS NULL AND c.lease_until <= now() THEN excluded.lease_until ELSE c.lease_until END
RETURNING platform_id, holder = $4::uuid AS is_holder, lost_at IS NOT NULL AS is_lost`

const RENEW = `
UPDATE conversations SET lease_until = now() + $3 * interval '1 second'
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

const BIND = `
UPDATE conversations SET platform_id = $3
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

const RELEASE = `
UPDATE conversations SET lease_until = now()
WHERE key = $1 AND holder = $2::uuid AND platform_id IS NULL`

/**
 * The latest turns that fit together, oldest first. `$1` conversation, `$2` turns at most, `$3` characters at most. Only
 * the texts that are sent are read: sizes are summed without them.
 */
const TURNS = `
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
 * Stores turns and deletes what does not fit beside them any more, so that a conversation never takes more room than what
 * is sent again. `$1`: a JSON array of turns, `$2` turns and `$3` characters at most.
 *
 * - A reply ends when its turn is visible, so the commit does not wait for the disk: a crash of the database server may
 *   lose turns of its last moments, and no count.
 * - The planner takes any JSON for 100 rows. The limit in the lateral and the deletion by `ctid` keep its choice at the
 *   index and the rows, whatever it believes about the table.
 */
const REMEMBER = `
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
 * `$1` days, `$2` rows at most. The condition on the characters is that of the index. Replicas that sweep at the same time
 * leave each other's rows alone.
 */
const SWEEP_TURNS = `
DELETE FROM turns
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM turns WHERE created_at < now() - $1 * interval '1 day' AND characters >= 0
  ORDER BY created_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`

/** `$1` days, `$2` rows at most. The lock checks the time again: a conversation that was just used stays. */
const SWEEP_MAPPINGS = `
DELETE FROM conversations
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM conversations WHERE used_at < now() - $1 * interval '1 day'
  ORDER BY used_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING key`

/** Texts as a text column holds them. Those of a turn that is too long are left out: the row only ends what was kept. */
function storable(question: string, answer: string, charactersMax: number): KeptTurn {
  if (question.length + answer.length > charactersMax) return { question: '', answer: '', is_escaped: false }
  if (isStorable(question) && isStorable(answer)) return { question, answer, is_escaped: false }
  return { question: escaped(question), answer: escaped(answer), is_escaped: true }
}

/** PostgreSQL's texts hold neither NUL nor lone surrogates. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function messagesOf({ question, answer, is_escaped }: KeptTurn): CallMessage[] {
  return [
    { role: 'user', content: is_escaped ? unescaped(question) : question },
    { role: 'assistant', content: is_escaped ? unescaped(answer) : answer },
  ]
}

/** A JSON string in ASCII: NUL and lone surrogates survive a text column. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function unescaped(text: string): string {
  return JSON.parse(text) as string
}
