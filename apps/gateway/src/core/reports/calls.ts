import { validate } from 'uuid'
import { validIds } from '#core/database/valid-ids.ts'
import { refuseField } from '#core/errors/errors.ts'
import type { Asking } from '#core/limits/sharing/owner-turns.ts'
import { allRows, BATCH_ROWS } from '#core/lists/all-rows.ts'
import { countRows, idsBetween, type RowsById, readNewest } from '#core/lists/rows-by-id.ts'
import { type ListQuery, readList } from '#core/requests/input/pagination.ts'
import { isAdmin, type Principal } from '#core/requests/principal.ts'
import type { Call, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import type { CallState, CallsQuery } from './calls-query.ts'
import type { ReadDeps } from './reports.ts'
import { ownerIn, ownScopeOf, type Scope, scopeOf } from './scope.ts'

/** The columns to read, as Pothos passes them to a resolver; by default all of them. A call has no relations. */
export interface CallQuery {
  readonly select?: Prisma.CallSelect | undefined
}

/** The dependencies of reading rows of the ledger. */
export interface CallsDeps extends ReadDeps {
  readonly prisma: PrismaClient
}

/**
 * One page of the calls that the caller may see, newest first.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function readCalls(
  deps: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  page: ListQuery & CallQuery,
  signal?: AbortSignal,
): Promise<Call[]> {
  requireForward(page)
  return readList(page, ({ where: { id }, take }) =>
    readBefore(deps, caller, query, {
      before: id && 'lt' in id ? id.lt : undefined,
      take,
      select: page.select,
      signal,
    }),
  )
}

/** Reading backwards would need slices of its own for filters that match few rows, and no face offers it. */
export function requireForward({ take }: ListQuery): void {
  if (take < 0) refuseField(['last'], 'calls are read from the newest on; expected first.')
}

/**
 * The number of calls that match the filter; null if there are more than `COUNT_MAX`.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function countCalls(
  deps: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  signal?: AbortSignal,
): Promise<number | null> {
  const { prisma, sql, reads, requireKnownAgent } = deps
  return reads.inTurn({ owner: caller.userId, signal }, async (slices) => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent, slices)
    const where = filterOf(scope, query)
    return countRows(rowsIn({ sql, slices }, scope, query), (id, take) =>
      prisma.call.count({ where: { AND: [where, { id }] }, take }),
    )
  })
}

/**
 * All calls that the caller may see, newest first, read in batches. The first batch is read before this resolves, so that
 * errors are thrown before a face has begun its response.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function exportCalls(
  deps: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  signal?: AbortSignal,
): Promise<AsyncIterable<Call>> {
  // The rest of an export is not refused for want of a place, because it would break off in the middle.
  const read = (before?: string) =>
    readBefore(deps, caller, query, {
      before,
      signal,
      take: BATCH_ROWS,
      isContinued: before !== undefined,
    })
  return allRows((last) => read(last?.id))
}

/** Returns null for a call that does not exist and for one that the caller may not see. */
export async function findCall(
  { prisma }: Pick<CallsDeps, 'prisma'>,
  caller: Principal,
  id: string,
  query: CallQuery = {},
): Promise<Call | null> {
  if (!validate(id)) return null
  const call = await prisma.call.findFirst({
    ...columnsOf(query),
    where: { AND: [callsVisibleTo(caller), { id }] },
  })
  return call && shownTo(caller)(call)
}

/** The calls with these ids that the caller may see, in one statement and in no particular order. */
export async function findCalls(
  { prisma }: Pick<CallsDeps, 'prisma'>,
  caller: Principal,
  ids: readonly string[],
  query: CallQuery = {},
): Promise<Call[]> {
  const known = validIds(ids)
  if (known.length === 0) return []
  const calls = await prisma.call.findMany({
    ...columnsOf(query),
    where: { AND: [callsVisibleTo(caller), { id: { in: known } }] },
  })
  return calls.map(shownTo(caller))
}

/** The condition for the calls that the caller may see. */
function callsVisibleTo(caller: Principal): Prisma.CallWhereInput {
  return filterOf(ownScopeOf(caller), {})
}

/** Adds the id, from which the next page continues, to the selected columns. */
function columnsOf({ select }: CallQuery): { select?: Prisma.CallSelect } {
  return select === undefined ? {} : { select: { ...select, id: true } }
}

interface PageBefore extends CallQuery, Omit<Asking, 'owner'> {
  /** The rows have smaller ids than this one; without it, the newest rows are read. */
  readonly before?: string | undefined
  readonly take: number
}

function readBefore(
  deps: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  { before, take, select, ...asking }: PageBefore,
): Promise<Call[]> {
  const { prisma, sql, reads, requireKnownAgent } = deps
  return reads.inTurn({ owner: caller.userId, ...asking }, async (slices) => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent, slices)
    const where = filterOf(scope, query)
    const rows = await readNewest(rowsIn({ sql, slices }, scope, query), { before, take }, (id, takeMax) =>
      prisma.call.findMany({
        ...columnsOf({ select }),
        where: { AND: [where, { id }] },
        take: takeMax,
        orderBy: { id: 'desc' },
      }),
    )
    return rows.map(shownTo(caller))
  })
}

function rowsIn(read: Pick<RowsById, 'sql' | 'slices'>, scope: Scope, { from, to }: CallsQuery): RowsById {
  return { ...read, table: 'calls', owner: ownerIn(scope), from, to }
}

function filterOf(scope: Scope, query: CallsQuery): Prisma.CallWhereInput {
  const { agent, app, deployment, model, endUser, kind, face, outcome, requestId, conversation, from, to } =
    query
  const { reason, firstChunkMsMin, durationMsMin, totalTokensMin } = query
  return {
    ...(scope.kind === 'key' && { keyId: scope.keyId }),
    ...(scope.kind === 'owner' && { ownerId: scope.ownerId }),
    ...(agent !== undefined && { agent }),
    ...(app !== undefined && { app }),
    ...(deployment !== undefined && { deployment: deployment === '' ? null : deployment }),
    // The rollups have an empty model for a call of which none is known, and a filter means the same calls here as there.
    ...(model !== undefined && { model: model === '' ? null : model }),
    ...(endUser !== undefined && { endUser }),
    ...(kind !== undefined && { kind }),
    ...(face !== undefined && { face }),
    ...(outcome !== undefined && { OR: inStates(outcome) }),
    ...(requestId !== undefined && { requestId }),
    ...(conversation !== undefined && { conversation }),
    ...(reason !== undefined && { reason }),
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

function inStates(states: readonly CallState[]): Prisma.CallWhereInput[] {
  const outcomes = states.filter((state) => state !== 'running')
  return [{ outcome: { in: outcomes } }, ...(states.includes('running') ? [{ outcome: null }] : [])]
}

/** Whether the caller may see what the platform said about an error. */
export function seesPlatform(caller: Principal): boolean {
  return isAdmin(caller)
}

/** Hides what the platform said, and the trace, from callers who may not see it. */
function shownTo(caller: Principal): (call: Call) => Call {
  return seesPlatform(caller)
    ? (call) => call
    : (call) => ({ ...call, platformStatus: null, platformCode: null, platformLogId: null, traceId: null })
}
