import { validate } from 'uuid'
import { requireKnownOwner } from '#core/accounts/users/known-owner.ts'
import type { OfferedPause } from '#core/agents/pause.ts'
import { whoIs } from '#core/audit/actor.ts'
import { type Audit, eventJson } from '#core/audit/audit.ts'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { Pauses, StoredPause } from '#core/calls/pauses/pauses.ts'
import type { Sql } from '#core/database/database.ts'
import { validIds } from '#core/database/valid-ids.ts'
import { identityInSql } from '#core/ledger/listed-conversations-sql.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import { allRows } from '#core/lists/all-rows.ts'
import {
  countListed,
  type Listed,
  type Listing,
  type OrderedQuery,
  readOrdered,
} from '#core/lists/ordered-lists.ts'
import { requireText } from '#core/requests/input/input-rules.ts'
import { PAGE_ITEMS_MAX } from '#core/requests/input/pagination.ts'
import { credentialId, isAdmin, type Principal } from '#core/requests/principal.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import { type AtPlatformDeps, createAtPlatform, type PassedOn, passOn } from './at-platform.ts'
import {
  CONVERSATION_ORDERS,
  type ConversationFilter,
  filterInSql,
  mayRead,
  visibleInSql,
} from './conversation-filter.ts'
import { checkHistoryPage, type History, type HistoryPage, readHistory } from './conversation-history.ts'
import { type Conversation, readConversations } from './conversation-rows.ts'
import { type DeletedConversation, deleteConversation } from './delete-conversation.ts'
import { checkFeedback, type Feedback, type RatedCall, rateCall } from './rate-call.ts'

export type ConversationQuery = OrderedQuery<keyof typeof CONVERSATION_ORDERS>

export interface ConversationsDeps extends AtPlatformDeps {
  readonly prisma: PrismaClient
  readonly sql: Sql
  readonly reads: Reads
  readonly limits: Pick<Limits, 'calls'>
  readonly takeWrite: TakeWrite
  readonly audit: Pick<Audit, 'append'>
  readonly pauses: Pick<Pauses, 'offered'>
  /** @throws Problem `invalid_request` for an agent that is not configured and was never called */
  requireKnownAgent(agent: string | undefined, slices: Slices | undefined): Promise<void>
}

/** A conversation that was renamed. */
export interface RenamedConversation {
  readonly conversation: Conversation
  /** Whether the platform has the name as well. A failure loses nothing here. */
  readonly passedOn: PassedOn
}

export const NAME_LENGTH_MAX = 200

/**
 * Conversations, the most recently used first. An administrator sees all, a user its own, and an API key with `chat` those of its
 * owner with the agents that it may use; a caller that is bound to an end user only that one's. They are listed once their first
 * call has been settled, within a second of its end.
 */
export type Conversations = ReturnType<typeof createConversations>

export function createConversations(deps: ConversationsDeps) {
  const { prisma, sql, reads, limits, takeWrite, audit } = deps
  const atPlatform = createAtPlatform(deps)
  const ordered = { prisma, reads, table: 'listed_conversations', fields: CONVERSATION_ORDERS } as const

  const listing = (caller: Principal, filter: ConversationFilter): Listing => {
    const visible = visibleInSql(caller)
    const { rows, search } = filterInSql(filter)
    return {
      where: Prisma.sql`${visible} AND (${rows ?? Prisma.sql`true`}) AND (${search ?? Prisma.sql`true`})`,
      isFiltered: rows !== undefined || search !== undefined,
      // The order has an index, so that only a search in the conversations of all owners reads many rows.
      isOfAll: search !== undefined && isAdmin(caller) && filter.ownerId === undefined,
      owner: caller.userId,
    }
  }
  /** The conversations that a filter selects, whose agent and owner must be known. */
  const select = async (caller: Principal, filter: ConversationFilter, signal: AbortSignal | undefined) => {
    const selected = listing(caller, filter)
    await requireKnownOwner(sql, caller, filter.ownerId)
    if (filter.agent !== undefined) {
      const turn = { owner: caller.userId, signal }
      await reads.inTurn(turn, (slices) => deps.requireKnownAgent(filter.agent, slices))
    }
    return selected
  }
  const list = async (caller: Principal, query: ConversationQuery, filter: ConversationFilter) =>
    readOrdered(ordered, query, await select(caller, filter, query.signal), (ids) =>
      readConversations(sql, ids),
    )

  async function findMany(caller: Principal, ids: readonly string[]): Promise<Conversation[]> {
    const visible = visibleInSql(caller)
    const known = validIds(ids)
    if (known.length === 0) return []
    const found = await prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM listed_conversations
      WHERE id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text(${JSON.stringify(known)}::json))) AND ${visible}`
    return readConversations(
      sql,
      found.map(({ id }) => id),
    )
  }

  async function ofCalls(caller: Principal, callIds: readonly string[]): Promise<Map<string, Conversation>> {
    const known = validIds(callIds)
    if (known.length === 0 || !mayRead(caller)) return new Map()
    const pairs = await prisma.$queryRaw<{ call: string; id: string }[]>`
      SELECT call.id::text AS call, conversation.id::text AS id
      FROM (
        SELECT c.id, c.admitted_at, ${Prisma.raw(identityInSql('c'))} AS identity FROM calls c
        WHERE c.id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text(${JSON.stringify(known)}::json))) AND c.kind = 'chat'
      ) AS call
      JOIN (SELECT id, identity FROM listed_conversations WHERE ${visibleInSql(caller)}) AS conversation USING (identity)
      WHERE NOT EXISTS (
        SELECT FROM conversation_generations g WHERE g.identity = call.identity AND g.deleted_at >= call.admitted_at)`
    const conversations = await readConversations(sql, [...new Set(pairs.map(({ id }) => id))])
    const byId = new Map(conversations.map((conversation) => [conversation.id, conversation]))
    return new Map(
      pairs.flatMap(({ call, id }) => {
        const conversation = byId.get(id)
        return conversation === undefined ? [] : [[call, conversation] as const]
      }),
    )
  }

  async function openPauses(caller: Principal, ids: readonly string[]): Promise<Map<string, OfferedPause>> {
    const known = validIds(ids)
    if (known.length === 0 || !mayRead(caller)) return new Map()
    const rows = await prisma.$queryRaw<StoredPause[]>`
      SELECT id::text, sealed, content FROM pauses
      WHERE id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text(${JSON.stringify(known)}::json)))
        AND claimed_by IS NULL AND (expires_at IS NULL OR expires_at > now())
        AND owner_id = ${caller.userId}::uuid AND ${visibleInSql(caller)}`
    return new Map(
      rows.flatMap((row) => {
        const offered = deps.pauses.offered(row)
        return offered === undefined ? [] : [[row.id, offered] as const]
      }),
    )
  }

  async function passNameOn(conversation: Conversation, name: string | null): Promise<PassedOn> {
    if (name === null) return 'unsupported'
    return passOn(async () => {
      const { place } = await atPlatform.find(conversation)
      const call = place?.calls.rename?.(place.conversation, name)
      return place && call && { place, call }
    }, atPlatform)
  }

  async function find(caller: Principal, id: string): Promise<Conversation> {
    const visible = await findMany(caller, validate(id) ? [id] : [])
    return visible[0] ?? fail('conversation_not_found')
  }

  return {
    /** @throws Problem `invalid_request`, `permission_denied`, `user_not_found`; `unavailable`, `rate_limited` where it has to wait too long */
    async list(
      caller: Principal,
      query: ConversationQuery,
      filter: ConversationFilter = {},
    ): Promise<Listed<Conversation>[]> {
      return list(caller, query, filter)
    },
    /** How many conversations {@link Conversations.list} has on all pages. */
    async count(caller: Principal, filter: ConversationFilter = {}, signal?: AbortSignal): Promise<number> {
      return countListed(ordered, await select(caller, filter, signal), signal)
    },
    /** All that {@link Conversations.list} has on all pages. The whole export takes one point of the limit for reports. */
    async export(
      caller: Principal,
      filter: ConversationFilter = {},
      onLimit?: OnLimit,
      signal?: AbortSignal,
    ): Promise<AsyncIterable<Conversation>> {
      visibleInSql(caller)
      await requirePoint(limits.calls, credentialId(caller), onLimit)
      return allRows<Listed<Conversation>>(
        (last) => list(caller, { take: PAGE_ITEMS_MAX, cursor: last?.cursor, signal }, filter),
        PAGE_ITEMS_MAX,
      )
    },
    /** Checks a filter without reading anything; throws what {@link Conversations.list} throws for it. */
    check(caller: Principal, filter: ConversationFilter): void {
      visibleInSql(caller)
      filterInSql(filter)
    },
    /** @throws Problem `conversation_not_found` if it does not exist or the caller may not see it, `permission_denied` */
    find,
    /** The conversations with these ids that the caller may see, in no particular order. */
    findMany,
    /** The conversations of these calls that are listed and that the caller may see, by the ids of the calls. */
    ofCalls,
    /**
     * The open questions with these ids, which are those of the calls that have paused. Only the owner sees them, who may answer: an
     * administrator reads texts of others with {@link Conversations.messages} alone, which is in the audit log.
     */
    openPauses,
    /**
     * A page of its messages, the newest page first. Where the platform keeps them, it is asked at this moment. That an administrator
     * reads the texts of another user is in the audit log.
     *
     * @throws Problem what {@link Conversations.find} and {@link readHistory} throw, `rate_limited`
     */
    async messages(
      caller: Principal,
      id: string,
      page: HistoryPage,
      onLimit?: OnLimit,
      signal?: AbortSignal,
    ): Promise<History> {
      checkHistoryPage(page)
      const conversation = await find(caller, id)
      await requirePoint(limits.calls, credentialId(caller), onLimit)
      if (conversation.ownerId !== caller.userId) {
        const after = { owner_id: conversation.ownerId, agent: conversation.agent }
        const read = { operation: 'conversations.read', target: 'conversation', targetId: id, after } as const
        await audit.append(whoIs(caller), read)
      }
      return readHistory({ sql, atPlatform }, conversation, page, signal)
    },
    /**
     * Names a conversation, here and where its platform has names. Null takes the name back, here alone.
     *
     * @throws Problem `invalid_request`, `rate_limited` and what {@link Conversations.find} throws
     */
    async rename(
      caller: Principal,
      id: string,
      name: string | null,
      onLimit?: OnLimit,
    ): Promise<RenamedConversation> {
      checkName(name)
      const before = await find(caller, id)
      await takeWrite(caller, onLimit)
      const event = eventJson(whoIs(caller), {
        operation: 'conversations.rename',
        target: 'conversation',
        targetId: id,
        after: { owner_id: before.ownerId, agent: before.agent },
      })
      const renamed = await sql.query(RENAME, [id, name, event])
      if (renamed.length === 0) fail('conversation_not_found')
      return { conversation: { ...before, name }, passedOn: await passNameOn(before, name) }
    },
    /**
     * Deletes a conversation at its platform, where that can, and here. Its id begins a new one from then on, on every platform.
     *
     * @throws Problem `rate_limited`, and what {@link Conversations.find} and {@link deleteConversation} throw
     */
    async remove(caller: Principal, id: string, onLimit?: OnLimit): Promise<DeletedConversation> {
      const conversation = await find(caller, id)
      await takeWrite(caller, onLimit)
      return deleteConversation({ sql, atPlatform }, caller, conversation)
    },
    /**
     * Keeps with a call what its user thinks of the answer, and passes it on where the platform takes it.
     *
     * @throws Problem `rate_limited` and those of {@link rateCall}
     */
    async rate(caller: Principal, callId: string, feedback: Feedback, onLimit?: OnLimit): Promise<RatedCall> {
      checkFeedback(feedback)
      await takeWrite(caller, onLimit)
      return rateCall({ prisma, atPlatform }, caller, callId, feedback)
    },
  }
}

/** @throws Problem `invalid_request` */
export function checkName(name: string | null): void {
  if (name === null) return
  requireText(['name'], name, NAME_LENGTH_MAX)
  if (name.trim() === '' || /[\p{Cc}\p{Cs}]/u.test(name))
    refuseField(['name'], 'expected a text that is not blank, without control characters.')
}

/** `$1` the conversation, `$2` the name, `$3` the event of the audit log, which does not have the name. */
const RENAME = `
WITH renamed AS (UPDATE listed_conversations SET name = $2 WHERE id = $1::uuid RETURNING id)
SELECT audit_append($3::jsonb) FROM renamed`
