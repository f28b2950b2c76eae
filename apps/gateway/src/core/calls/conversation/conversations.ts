import type { CallMessage } from '#core/agents/adapter.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { concernsDatabase, isStatementTimeout } from '#core/base/errors/connection-error.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { jsonEscape } from '#core/base/values/json-escape.ts'
import { MAIN_RESIDENCE, type Residence } from '#core/calls/routing/residence.ts'
import type { Sql } from '#core/database/database.ts'
import {
  BIND,
  EARLIER_CALL,
  ENTER,
  READ,
  RELEASE,
  REMEMBER,
  REMEMBERED_AT_ONCE,
  RENEW,
  SETTLE,
  SWEEP_GENERATIONS,
  SWEEP_LISTED,
  SWEEP_MAPPINGS,
  SWEEP_TURNS,
  TURNS,
} from './conversation-sql.ts'
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
    /** How long the ledger has a call. */
    readonly ledgerRetentionDays: number
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

  const remember = createBatcher<TurnRow>(
    async (turns) => {
      await sql.query(REMEMBER, [JSON.stringify(turns), bounds.maxTurns, bounds.maxCharacters])
    },
    { sizeMax: REMEMBERED_AT_ONCE, isShared: concernsDatabase, isTooSlow: isStatementTimeout },
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
      const listed = await sql.query(SWEEP_LISTED, [bounds.mappingRetentionDays, SWEPT_AT_ONCE])
      // After the list, on which it depends whether a generation is needed.
      const generationDays = Math.max(bounds.mappingRetentionDays, bounds.ledgerRetentionDays)
      const generations = await sql.query(SWEEP_GENERATIONS, [generationDays, SWEPT_AT_ONCE])
      return turns.length + mappings.length + listed.length + generations.length
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
