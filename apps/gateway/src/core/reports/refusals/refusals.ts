import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { type Limiter, type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { Asking } from '#core/limits/sharing/owner-turns.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import { allRows, BATCH_ROWS } from '#core/lists/all-rows.ts'
import { countRows, type ForwardPage, idsBetween, type RowsById, readNewest } from '#core/lists/rows-by-id.ts'
import { createRequireKnownAgent, type RequireKnownAgent } from '#core/reports/require-known-agent.ts'
import { ownerIn, ownScopeOf, type Scope, scopeOf } from '#core/reports/scope.ts'
import { cursorOfId, idOfCursor, rowsOf } from '#core/requests/input/pagination.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'
import type { Prisma, Refusal as RefusalRow } from '#generated/prisma/client.ts'
import { type RefusalCount, readRefusalCounts } from './refusal-counts.ts'
import { parseRefusalCountsQuery, type RefusalCountsInput } from './refusal-counts-query.ts'
import { parseRefusalsQuery, type RefusalsInput, type RefusalsQuery } from './refusals-query.ts'

/** A refused request, with its place in the list. */
export interface Refusal extends RefusalRow {
  readonly cursor: string
}

/**
 * Which requests were refused, for every face: single ones of the last day, and how many there were. A user sees the refusals
 * of its own credentials, an administrator all, and a key without `admin` only its own. Each page, count and export takes a
 * point of the caller's rate limit after its query has been validated, and waits for the turn of its user.
 */
export interface Refusals {
  list(
    caller: Principal,
    input: RefusalsInput,
    page: ForwardPage,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<Refusal[]>
  /** How many of them match; null for more than 10,000. It takes a point like a page. */
  count(
    caller: Principal,
    input: RefusalsInput,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<number | null>
  /** The last refusal of each request with one of these ids, by them, as far as one is kept that the caller may see. */
  findMany(caller: Principal, requestIds: readonly string[]): Promise<ReadonlyMap<string, Refusal>>
  /** How many requests were refused in each bucket of a range, by key, agent, reason and limit. */
  counts(
    caller: Principal,
    input: RefusalCountsInput,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<RefusalCount[]>
  /** All refusals that match, newest first. The whole export takes one point. */
  export(
    caller: Principal,
    input: RefusalsInput,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Refusal>>
  /**
   * Applies the rules that need no database to the query for counts.
   *
   * @throws Problem `invalid_request` with all mistakes
   */
  checkCounts(input: RefusalCountsInput): void
}

export interface RefusalsDeps {
  readonly database: Pick<Database, 'sql' | 'prisma'>
  readonly runtime: Pick<Runtime, 'now'>
  readonly limits: Pick<Limits, 'calls' | 'reports'>
  readonly reads: Reads
  /** Whose agents a query may name before they have been called. */
  readonly catalog: Pick<AgentCatalog, 'knownIds'>
}

export function createRefusals({ database, runtime, limits, reads, catalog }: RefusalsDeps): Refusals {
  const { sql, prisma } = database
  const requireCalledAgent = createRequireKnownAgent(catalog, sql)
  const requireRead = (limiter: Limiter, caller: Principal, onLimit?: OnLimit, signal?: AbortSignal) => {
    reads.requirePlace({ owner: caller.userId, signal })
    return requirePoint(limiter, credentialId(caller), onLimit)
  }
  const requireKnownAgent: RequireKnownAgent = async (agent, slices) => {
    if (agent !== NO_AGENT && agent !== OTHER_AGENT) await requireCalledAgent(agent, slices)
  }
  const rowsIn = (scope: Scope, slices: Slices | undefined, { from, to }: RefusalsQuery): RowsById => ({
    sql,
    slices,
    table: 'refusals',
    owner: ownerIn(scope),
    from,
    to,
  })

  /** Runs a read of single refusals in the caller's turn. */
  const inScope = <Result>(
    caller: Principal,
    query: RefusalsQuery,
    asking: Omit<Asking, 'owner'>,
    read: (rows: RowsById, where: Prisma.RefusalWhereInput) => Promise<Result>,
  ): Promise<Result> =>
    reads.inTurn({ owner: caller.userId, ...asking }, async (slices) => {
      const scope = await scopeOf(sql, caller, query)
      await requireKnownAgent(query.agent, slices)
      return read(rowsIn(scope, slices, query), filterOf(scope, query))
    })

  const readPage = (
    caller: Principal,
    query: RefusalsQuery,
    page: { before: string | undefined; take: number },
    asking: Omit<Asking, 'owner'>,
  ) =>
    inScope(caller, query, asking, async (rows, where) => {
      const found = await readNewest(rows, page, (id, take) =>
        prisma.refusal.findMany({ where: { AND: [where, { id }] }, take, orderBy: { id: 'desc' } }),
      )
      return found.map(listed)
    })

  return {
    async list(caller, input, { take, cursor }, onLimit, signal) {
      const query = parseRefusalsQuery(input)
      const before = cursor === undefined ? undefined : idOfCursor(cursor)
      const rows = rowsOf(take)
      await requireRead(limits.calls, caller, onLimit, signal)
      return readPage(caller, query, { before, take: rows }, { signal })
    },
    async count(caller, input, onLimit, signal) {
      const query = parseRefusalsQuery(input)
      await requireRead(limits.calls, caller, onLimit, signal)
      return inScope(caller, query, { signal }, (rows, where) =>
        countRows(rows, (id, take) => prisma.refusal.count({ where: { AND: [where, { id }] }, take })),
      )
    },
    async findMany(caller, requestIds) {
      const owner = ownerIn(ownScopeOf(caller))
      const last = await sql.query<{ id: string }>(lastOfRequests(owner?.column), [
        requestIds,
        ...(owner === undefined ? [] : [owner.id]),
      ])
      if (last.length === 0) return new Map()
      const rows = await prisma.refusal.findMany({ where: { id: { in: last.map(({ id }) => id) } } })
      return new Map(rows.map((row) => [row.requestId, listed(row)]))
    },
    async counts(caller, input, onLimit, signal) {
      const query = parseRefusalCountsQuery(input, runtime.now())
      await requireRead(limits.reports, caller, onLimit, signal)
      return reads.inTurn({ owner: caller.userId, signal }, async (slices) => {
        const scope = await scopeOf(sql, caller, query)
        await requireKnownAgent(query.agent, slices)
        return readRefusalCounts({ sql, slices }, scope, query)
      })
    },
    async export(caller, input, onLimit, signal) {
      const query = parseRefusalsQuery(input)
      await requireRead(limits.calls, caller, onLimit, signal)
      // The rest of an export is not refused for want of a place, because it would break off in the middle.
      return allRows((last: Refusal | undefined) =>
        readPage(
          caller,
          query,
          { before: last?.id, take: BATCH_ROWS },
          { signal, isContinued: last !== undefined },
        ),
      )
    },
    checkCounts(input) {
      parseRefusalCountsQuery(input, runtime.now())
    },
  }
}

/** What rows have in place of an agent where the request named none, or none that is configured. */
const NO_AGENT = ''
const OTHER_AGENT = 'other'

/** A client may give many requests one id, so that only the last refusal of each is read. */
function lastOfRequests(column: 'owner_id' | 'key_id' | undefined): string {
  const isOwn = column === undefined ? '' : `AND r.${column} = $2::uuid`
  return `SELECT last.id::text FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id) AS asked
    CROSS JOIN LATERAL (
      SELECT r.id FROM refusals r WHERE r.request_id = asked.id ${isOwn} ORDER BY r.id DESC LIMIT 1
    ) AS last`
}

function filterOf(scope: Scope, query: RefusalsQuery): Prisma.RefusalWhereInput {
  const { agent, reason, limitName, requestId, from, to } = query
  return {
    ...(scope.kind === 'key' && { keyId: scope.keyId }),
    ...(scope.kind === 'owner' && { ownerId: scope.ownerId }),
    ...(agent !== undefined && { agent }),
    ...(reason !== undefined && { reason }),
    ...(limitName !== undefined && { limit: limitName }),
    ...(requestId !== undefined && { requestId }),
    ...((from !== undefined || to !== undefined) && {
      at: { ...(from && { gte: from }), ...(to && { lt: to }) },
      // Ids begin with the time, so the range of ids selects the rows through the primary key.
      id: idsBetween(from, to),
    }),
  }
}

function listed(row: RefusalRow): Refusal {
  return { ...row, cursor: cursorOfId(row.id) }
}
