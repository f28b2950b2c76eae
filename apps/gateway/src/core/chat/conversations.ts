import type { CallMessage } from '#core/agents/adapter.ts'
import type { Sql } from '#core/database/database.ts'
import { Problem } from '#core/errors.ts'
import type { Runtime } from '#core/runtime.ts'
import { coalesce } from '#core/usage/coalesce.ts'

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
  /** Resolves when the next turn, on whatever replica, sees this one. */
  remember(key: string, callId: string, question: string, answer: string): Promise<void>
  /** Forgets what agents that lost their memory called their conversations. */
  forget(agentIds: readonly string[]): Promise<void>
  /** Deletes turns that are older than their retention. */
  sweep(): Promise<void>
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
  }
}

/** A holder that died is replaced after so long; a living one renews. */
const LEASE_SECONDS = 15
const RENEW_MS = 5_000
const LOOK_AGAIN_MS = 100

export function createConversations(deps: ConversationsDeps): Conversations {
  const { sql, runtime, bounds } = deps

  const remember = coalesce<TurnRow, void>(
    async (turns) => {
      await sql.query(REMEMBER, [JSON.stringify(turns), bounds.maxTurns])
      return turns.map(() => undefined)
    },
    { sizeMax: 64, isShared: () => true },
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
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
      }
    },
    async turns(key) {
      const rows = await sql.query<{ question: string; answer: string }>(TURNS, [key, bounds.maxTurns])
      return fitting(rows, bounds.maxCharacters)
    },
    remember: (key, callId, question, answer) =>
      remember({
        id: callId,
        conversation: key,
        question: escaped(question),
        answer: escaped(answer),
      }),
    async forget(agentIds) {
      await sql.query('DELETE FROM conversations WHERE agent = ANY ($1)', [agentIds])
    },
    async sweep() {
      await sql.query("DELETE FROM turns WHERE created_at < now() - $1 * interval '1 day'", [
        bounds.retentionDays,
      ])
    },
  }
}

interface MappingRow {
  readonly platform_id: string | null
  readonly is_holder: boolean
  readonly is_lost: boolean
}

interface TurnRow {
  readonly id: string
  readonly conversation: string
  readonly question: string
  readonly answer: string
}

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

/** `$1` key, `$2` owner, `$3` agent, `$4` call, `$5` lease in seconds. */
const ENTER = `
INSERT INTO conversations AS c (key, owner_id, agent, holder, lease_until, created_at)
VALUES ($1, $2::uuid, $3, $4::uuid, now() + $5 * interval '1 second', now())
ON CONFLICT (key) DO UPDATE SET
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

const TURNS = `
SELECT question, answer FROM turns WHERE conversation = $1 ORDER BY id DESC LIMIT $2`

/**
 * A reply ends when its turn is seen, so the commit does not wait for the disk: a crash of the database server may lose
 * turns of its last moments, and no count.
 */
const REMEMBER = `
WITH quick AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true) AS mode
), written AS (
  INSERT INTO turns (id, conversation, question, answer, created_at)
  SELECT t.id, t.conversation, t.question, t.answer, now()
  FROM json_to_recordset($1::json) AS t(id uuid, conversation text, question text, answer text)
  WHERE (SELECT count(mode) FROM quick) > 0
  RETURNING conversation
)
DELETE FROM turns old
WHERE old.id IN (
  SELECT kept.id FROM (SELECT DISTINCT conversation FROM written) w
  CROSS JOIN LATERAL (
    SELECT id FROM turns WHERE turns.conversation = w.conversation ORDER BY id DESC OFFSET $2
  ) kept)`

/** The newest turns whose texts fit together, in their order. */
function fitting(
  rows: readonly { question: string; answer: string }[],
  charactersMax: number,
): readonly CallMessage[] {
  const messages: CallMessage[] = []
  let characters = 0
  for (const row of rows) {
    const [question, answer] = [unescaped(row.question), unescaped(row.answer)]
    characters += question.length + answer.length
    if (characters > charactersMax) break
    messages.unshift({ role: 'user', content: question }, { role: 'assistant', content: answer })
  }
  return messages
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
