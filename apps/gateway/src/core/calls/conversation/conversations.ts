import type { CallMessage } from '#core/agents/adapter.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { jsonEscape } from '#core/base/values/json-escape.ts'
import { MAIN_RESIDENCE, type Residence } from '#core/calls/routing/residence.ts'
import type { Sql } from '#core/database/database.ts'
import { isLostConnection, isStatementTimeout } from '#core/errors/connection-error.ts'
import { Problem } from '#core/errors/errors.ts'
import { identityInSql } from '#core/ledger/listed-conversations-sql.ts'
import type { ConversationName, DerivedIds } from './derived-ids.ts'

/**
 * The mapping of a client's conversation id to the platform's. The first call obtains the platform's id and holds the
 * mapping until then; concurrent calls wait.
 */
export interface Mapping {
  /** The platform's id; undefined for the call that is to obtain it. */
  readonly platformId: string | undefined
  readonly residence: Residence
  /** Stores the platform's id. Later calls see it once this resolves. */
  bind(platformId: string): Promise<void>
  /** Gives up without an id, so that a waiting call can take over. */
  release(): Promise<void>
  /** Marks the conversation as lost at the platform: later calls fail with `conversation_not_found`. */
  lose(): Promise<void>
}

export interface Conversations {
  /**
   * Returns the mapping of a conversation; waits while another call is obtaining the platform's id.
   *
   * @param call - whether the call has ended in the meantime, so that waiting is pointless
   * @throws Problem `conversation_busy` if another call still holds it after `waitMs`, `conversation_not_found` if the
   * platform has lost the conversation
   */
  enter(request: EnterRequest, call: { readonly isOver: boolean }): Promise<Mapping>
  /**
   * Returns where a conversation lives whose id at the platform is derived. The first call decides, until another has entered
   * the conversation or its first turn may have been stored.
   */
  settle(request: SettleRequest): Promise<Residence>
  /** Takes back what {@link Conversations.settle} has decided for this call, whose turn was not taken, unless another call relies on it. */
  unsettle(key: string, callId: string): Promise<void>
  /**
   * What earlier calls have stored of a conversation.
   *
   * @param isDerived - whether its id at the platform is derived, so that the ledger knows calls from before it had a row
   */
  stored(conversation: ConversationName, isDerived: boolean): Promise<StoredConversation>
  /** The latest completed turns that fit within the bounds, oldest first. */
  turns(key: string): Promise<readonly CallMessage[]>
  /**
   * Stores a completed turn. Resolves when the next turn sees it, on any replica. A turn beyond the bounds is not stored
   * and ends the history before it, because turns are sent without gaps.
   */
  remember(key: string, callId: string, question: string, answer: string): Promise<void>
  /** Deletes the mappings of agents that have lost their memory, such as a restarted sandbox. */
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
  /** Where the conversation begins if this call is its first. */
  readonly residence: Residence
}

export type SettleRequest = Omit<EnterRequest, 'waitMs'>

/** What is stored of a conversation. */
export interface StoredConversation {
  readonly generation: number
  /** The derived id of this generation. */
  readonly key: string
  /** The id that the platform gave it; undefined if none is known. Where the platform takes ids of ours, it is the key. */
  readonly platformId: string | undefined
  /** Undefined if no call has stored anything at a platform. */
  readonly residence: Residence | undefined
}

export interface ConversationsDeps {
  readonly sql: Sql
  readonly derivedIds: Pick<DerivedIds, 'conversationKey'>
  readonly runtime: Runtime
  readonly bounds: {
    readonly maxTurns: number
    readonly maxCharacters: number
    readonly retentionDays: number
    /** How long a mapping is kept after its last use. */
    readonly mappingRetentionDays: number
  }
}

/** A call that dies while it holds a mapping is replaced after this time; a live one renews its lease. */
const LEASE_SECONDS = 15
const RENEW_MS = 5_000
const LOOK_AGAIN_MS = 100
/** The end of a reply waits for its turn to be stored; a batch that took too long is run again in parts meanwhile. */
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
    const { key, ownerId, agent, callId, residence } = request
    const values = [key, ownerId, agent, callId, LEASE_SECONDS, residence.deployment, residence.state]
    const [row] = await sql.query<MappingRow>(ENTER, values)
    if (row === undefined) throw new Error('the conversation could not be entered')
    if (row.is_lost) throw new Problem('conversation_not_found')
    return row
  }

  async function read(name: ConversationName, generation: number): Promise<StoredConversation> {
    const key = deps.derivedIds.conversationKey({ ...name, generation })
    const { ownerId, endUser, agent, app, conversation } = name
    const [row] = await sql.query<StoredRow>(READ, [key, ownerId, endUser, agent, app, conversation])
    return {
      generation: row?.generation ?? 0,
      key,
      platformId: row?.platform_id ?? undefined,
      residence: row?.is_known ? residenceIn(row) : undefined,
    }
  }

  return {
    async enter(request, call) {
      const untilMs = runtime.elapsedMs() + request.waitMs
      for (;;) {
        const row = await look(request)
        if (row.platform_id !== null) return bound(sql, request.key, row.platform_id, residenceIn(row))
        if (row.is_holder) return pending(sql, request)
        if (runtime.elapsedMs() >= untilMs || call.isOver) throw new Problem('conversation_busy')
        await sleep(LOOK_AGAIN_MS)
      }
    },
    async settle({ key, ownerId, agent, callId, residence }) {
      const values = [key, ownerId, agent, callId, residence.deployment, residence.state]
      const [row] = await sql.query<ResidenceRow>(SETTLE, values)
      if (row === undefined) throw new Error('the conversation could not be settled')
      return residenceIn(row)
    },
    async unsettle(key, callId) {
      await sql.query('DELETE FROM conversations WHERE key = $1 AND holder = $2::uuid', [key, callId])
    },
    async stored(name, isDerived) {
      const first = await read(name, 0)
      const found = first.generation === 0 ? first : await read(name, first.generation)
      // The ledger does not say which of its calls belong to which generation.
      if (found.residence !== undefined || !isDerived || found.generation > 0) return found
      const { ownerId, agent, app, endUser, conversation } = name
      const values = [ownerId, conversation, agent, app, endUser]
      const [earlier] = await sql.query<{ readonly deployment: string | null }>(EARLIER_CALL, values)
      if (earlier === undefined) return found
      const { deployment } = earlier
      return { ...found, residence: deployment === null ? MAIN_RESIDENCE : { deployment, state: deployment } }
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

interface ResidenceRow {
  readonly deployment: string | null
  readonly state: string | null
}

interface StoredRow extends ResidenceRow {
  readonly is_known: boolean
  readonly platform_id: string | null
  /** Null if the conversation was never deleted. */
  readonly generation: number | null
}

interface MappingRow extends ResidenceRow {
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
  /** UTF-16 code units of both texts. */
  readonly characters: number
}

/** The most turns that one statement stores. */
const REMEMBERED_AT_ONCE = 64

function residenceIn({ deployment, state }: ResidenceRow): Residence {
  return deployment === null ? MAIN_RESIDENCE : { deployment, state: state ?? deployment }
}

function bound(sql: Sql, key: string, platformId: string, residence: Residence): Mapping {
  return {
    platformId,
    residence,
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

/** Held by this call until the platform's id is known: a row with a lease, since a transaction would hold a connection. */
function pending(sql: Sql, { key, callId, residence }: EnterRequest): Mapping {
  const renewal = setInterval(() => {
    sql.query(RENEW, [key, callId, LEASE_SECONDS]).catch(() => undefined)
  }, RENEW_MS)
  renewal.unref()
  const endLease = async (statement: string, values: readonly unknown[]) => {
    clearInterval(renewal)
    await sql.query(statement, values)
  }
  return {
    platformId: undefined,
    residence,
    bind: (platformId) => endLease(BIND, [key, callId, platformId]),
    release: () => endLease(RELEASE, [key, callId]),
    lose: () => endLease(RELEASE, [key, callId]),
  }
}

/**
 * `$1` key, `$2` owner, `$3` agent, `$4` call, `$5` lease in seconds, `$6` deployment, `$7` state. The time of the last use is
 * updated at most once a day, because every change of it costs an index entry. A conversation moves to another deployment
 * together with its holder, which has no id at the platform yet.
 */
const ENTER = `
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
const SETTLE = `
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
const READ = `
SELECT c.deployment, c.state, c.platform_id, c.key IS NOT NULL AS is_known, g.generation
FROM (SELECT $2::uuid AS owner_id, $3::text AS end_user, $4::text AS agent, $5::text AS app, $6::text AS conversation) AS name
LEFT JOIN conversations c ON c.key = $1 AND (c.platform_id IS NOT NULL OR c.lease_until > now())
LEFT JOIN conversation_generations g ON g.identity = ${identityInSql('name')}`

/**
 * `$1` owner, `$2` conversation, `$3` agent, `$4` app, `$5` end user. Of calls since there are rows only complete ones count: the
 * row of such a conversation was swept, and that of a call without a turn was taken back.
 */
const EARLIER_CALL = `
SELECT deployment FROM calls
WHERE owner_id = $1::uuid AND conversation = $2 AND agent = $3 AND app = $4 AND end_user = $5 AND kind = 'chat'
  AND (outcome = 'done' OR (deployment IS NULL AND attempts IS NULL)) AND outcome IS NOT NULL
ORDER BY deployment IS NULL, id DESC LIMIT 1`

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
 * The latest turns that fit together, oldest first. `$1` conversation, `$2` turns at most, `$3` characters at most. The
 * sizes are summed from their own column, so that only the texts that are sent are read.
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
 * Stores turns and deletes the older ones that no longer fit the bounds, so that a conversation takes no more space than
 * what is sent again. `$1`: a JSON array of turns, `$2` turns and `$3` characters at most.
 *
 * - The end of a reply waits for its turn to be visible, so the commit does not wait for the disk. A crash of the database
 *   server may lose the turns of its last moments, but no usage counts.
 * - The planner estimates 100 rows for any JSON. The limit in the lateral join and the deletion by `ctid` make it use the
 *   index and the rows themselves, whatever its statistics say about the table.
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
 * `$1` days, `$2` rows at most. The condition on the characters matches the partial index, which is used only with it.
 * Replicas that sweep at the same time skip the rows that the other has locked.
 */
const SWEEP_TURNS = `
DELETE FROM turns
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM turns WHERE created_at < now() - $1 * interval '1 day' AND characters >= 0
  ORDER BY created_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`

/** `$1` days, `$2` rows at most. Taking the lock checks the condition again, so a conversation that was just used is kept. */
const SWEEP_MAPPINGS = `
DELETE FROM conversations
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM conversations WHERE used_at < now() - $1 * interval '1 day'
  ORDER BY used_at LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING key`

/** The texts in a form that a text column can hold. A turn that is too long is stored without them: it only ends the history. */
function storable(question: string, answer: string, charactersMax: number): KeptTurn {
  if (question.length + answer.length > charactersMax) return { question: '', answer: '', is_escaped: false }
  if (isStorable(question) && isStorable(answer)) return { question, answer, is_escaped: false }
  return { question: escaped(question), answer: escaped(answer), is_escaped: true }
}

/** PostgreSQL texts can contain neither NUL nor lone surrogates. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function messagesOf({ question, answer, is_escaped }: KeptTurn): CallMessage[] {
  return [
    { role: 'user', content: keptText(question, is_escaped) },
    { role: 'assistant', content: keptText(answer, is_escaped) },
  ]
}

/** A JSON string in ASCII, in which NUL and lone surrogates survive a text column. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, jsonEscape)
}

/** A text of a turn as it was. */
export function keptText(text: string, isEscaped: boolean): string {
  return isEscaped ? (JSON.parse(text) as string) : text
}
