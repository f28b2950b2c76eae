import { validate } from 'uuid'
import { fail } from '#core/base/errors/errors.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { readPagesOfLists } from '#core/database/pages-of-lists.ts'
import { validIds } from '#core/database/valid-ids.ts'
import type { Limits, OnLimit } from '#core/limits/limits.ts'
import { allInSql } from '#core/lists/all-in-sql.ts'
import { idsBetween, inRangesOfIds, type RowsById } from '#core/lists/rows-by-id.ts'
import { type ListQuery, refuseCursor } from '#core/requests/input/pagination.ts'
import { isAdmin, type Principal } from '#core/requests/principal.ts'
import { type Call, Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import { type CallInstance, findInstances } from './call-instances.ts'
import { type CallState, type CallsInput, type CallsQuery, parseCallsQuery } from './calls-query.ts'
import { createRecordList, type ForwardPage, requireForward, requireRead } from './record-list.ts'
import type { ReadDeps } from './reports.ts'
import { columnsIn, indexedIn, ownScopeOf, type Scope, scopeOf } from './scope.ts'

/** The columns to read, as Pothos passes them to a resolver; by default all of them. A call has no relations. */
export interface CallQuery {
  readonly select?: Prisma.CallSelect | undefined
}

/** Which page of calls to read, in the form that Pothos passes to the resolvers of connections. */
export type CallsPage = ForwardPage<NonNullable<ListQuery['cursor']>> & CallQuery

/** The owner of calls: a key, or the user whom keys belong to. */
export type CallParent = 'key' | 'owner'

/**
 * The ledger, for every face. A user reads the calls of its own keys, an administrator all calls, and a key without `admin`
 * only its own; a caller that is bound to an end user reads of these only those of that one.
 *
 * The methods that take a query throw the problems `invalid_request`, `key_not_found` and `user_not_found`.
 */
export type Calls = ReturnType<typeof createCalls>

export interface CallsDeps extends ReadDeps {
  readonly prisma: PrismaClient
  readonly limits: Pick<Limits, 'calls'>
}

export function createCalls({ prisma, sql, reads, limits, requireKnownAgent }: CallsDeps) {
  async function findMany(caller: Principal, ids: readonly string[], query: CallQuery = {}): Promise<Call[]> {
    const known = validIds(ids)
    if (known.length === 0) return []
    const where = { AND: [filterOf(ownScopeOf(caller), {}), { id: { in: known } }] }
    const calls = await prisma.call.findMany({ ...columnsOf(query), where })
    return calls.map(shownTo(caller))
  }
  return {
    ...createRecordList<CallsInput, CallsQuery, Call, string, CallsPage>(reads, {
      limiter: limits.calls,
      parse: parseCallsQuery,
      beforeOf: ({ cursor }) =>
        cursor?.id === undefined || validate(cursor.id) ? cursor?.id : refuseCursor(),
      keyOf: ({ id }) => id,
      async select(caller, query, slices, page) {
        const scope = await scopeOf(sql, caller, query)
        await requireKnownAgent(query.agent, slices)
        const where = filterOf(scope, query)
        const { from, to } = query
        const rows: RowsById = { sql, slices, table: 'calls', columns: indexedIn(scope), from, to }
        return {
          inRanges: (before, read) => inRangesOfIds(rows, before, read),
          async find(id, take) {
            const calls = await prisma.call.findMany({
              ...columnsOf(page ?? {}),
              where: { AND: [where, { id }] },
              take,
              orderBy: { id: 'desc' },
            })
            return calls.map(shownTo(caller))
          },
          count: (id, take) => prisma.call.count({ where: { AND: [where, { id }] }, take }),
        }
      },
    }),
    /**
     * The same page of the calls of each of several keys or users, by their ids and newest first, for the price of one page.
     * Calls that the caller may not see are left out.
     */
    async ofParents(
      caller: Principal,
      { parent, ids }: { readonly parent: CallParent; readonly ids: readonly string[] },
      page: ListQuery & CallQuery,
      onLimit?: OnLimit,
      signal?: AbortSignal,
    ): Promise<ReadonlyMap<string, Call[]>> {
      await requireRead(reads, limits.calls, caller, onLimit, signal)
      requireForward(page)
      // Without a filter a page is as many rows of an index, so it needs no slices.
      return reads.inTurn({ owner: caller.userId, signal }, () =>
        readPagesOfLists(page, ids, {
          prisma,
          table: 'calls',
          parentColumn: parent === 'key' ? 'key_id' : 'owner_id',
          where: scopeInSql(ownScopeOf(caller)),
          readRows: (rowIds) => findMany(caller, rowIds, page),
        }),
      )
    },
    /** @throws Problem `call_not_found` for a call that does not exist and for one that the caller may not see */
    async find(caller: Principal, id: string): Promise<Call> {
      const [call] = await findMany(caller, [id])
      return call ?? fail('call_not_found')
    },
    /** The calls with these ids that the caller may see, in one statement and in no particular order. */
    findMany,
    /** The processes with these ids, of those who served calls; none for callers who may not see them. */
    findInstances: async (caller: Principal, ids: readonly string[]): Promise<CallInstance[]> =>
      seesPlatform(caller) ? findInstances(sql, ids) : [],
    /** Whether the caller may see the columns `platformStatus`, `platformCode`, `platformLogId` and `instance` of a call. */
    seesPlatform,
  }
}

/** Adds the id, from which the next page continues, to the selected columns. */
function columnsOf({ select }: CallQuery): { select?: Prisma.CallSelect } {
  return select === undefined ? {} : { select: { ...select, id: true } }
}

function scopeInSql(scope: Scope): Prisma.Sql {
  const conditions = Object.entries(columnsIn(scope)).map(([column, value]) =>
    column === 'end_user'
      ? Prisma.sql`end_user = ${value}`
      : Prisma.sql`${Prisma.raw(column)} = ${value}::uuid`,
  )
  return allInSql(conditions) ?? Prisma.sql`true`
}

function filterOf(scope: Scope, query: CallsQuery): Prisma.CallWhereInput {
  const { agent, app, deployment, model, endUser, kind, face, outcome, requestId, conversation, from, to } =
    query
  const { reason, paused, firstChunkMsMin, durationMsMin, totalTokensMin } = query
  const { key_id: keyId, owner_id: ownerId, end_user: boundTo } = columnsIn(scope)
  return {
    // The rollups have an empty model for a call of which none is known, and a filter means the same calls here as there.
    ...omitUndefined({ deployment: emptyAsNull(deployment), model: emptyAsNull(model) }),
    ...omitUndefined({
      keyId,
      ownerId,
      agent,
      app,
      endUser,
      kind,
      face,
      requestId,
      conversation,
      reason,
      paused,
    }),
    // Beside the end user of the query, which may be another one.
    ...(boundTo !== undefined && { AND: { endUser: boundTo } }),
    ...(outcome !== undefined && { OR: inStates(outcome) }),
    ...(firstChunkMsMin !== undefined && { firstChunkMs: { gte: firstChunkMsMin } }),
    ...(durationMsMin !== undefined && { durationMs: { gte: durationMsMin } }),
    ...(totalTokensMin !== undefined && { totalTokens: { gte: totalTokensMin } }),
    ...((from !== undefined || to !== undefined) && {
      admittedAt: { ...(from && { gte: from }), ...(to && { lt: to }) },
      // Ids begin with the time, so the range of ids selects the rows through the primary key.
      id: idsBetween(from, to),
    }),
  }
}

/** An empty text selects the calls of which nothing is known. */
function emptyAsNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text
}

function inStates(states: readonly CallState[]): Prisma.CallWhereInput[] {
  const outcomes = states.filter((state) => state !== 'running')
  return [{ outcome: { in: outcomes } }, ...(states.includes('running') ? [{ outcome: null }] : [])]
}

/** Whether the caller may see what the platform said about an error. */
function seesPlatform(caller: Principal): boolean {
  return isAdmin(caller)
}

/** Hides what the platform said, and the trace, from callers who may not see it. */
function shownTo(caller: Principal): (call: Call) => Call {
  return seesPlatform(caller)
    ? (call) => call
    : (call) => ({ ...call, platformStatus: null, platformCode: null, platformLogId: null, traceId: null })
}
