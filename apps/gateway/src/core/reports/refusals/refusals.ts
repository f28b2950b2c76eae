import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import type { Limits, OnLimit } from '#core/limits/limits.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import { idsBetween, inRangesOfIds, type RowsById } from '#core/lists/rows-by-id.ts'
import { createRecordList, type ForwardPage, requireRead } from '#core/reports/record-list.ts'
import { createRequireKnownAgent, type RequireKnownAgent } from '#core/reports/require-known-agent.ts'
import {
  columnsIn,
  indexedIn,
  ownScopeOf,
  type Scope,
  type ScopeColumns,
  scopeOf,
} from '#core/reports/scope.ts'
import { cursorOfId, idOfCursor } from '#core/requests/input/pagination.ts'
import { type Principal, requireUnbound } from '#core/requests/principal.ts'
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
 * of its own credentials, an administrator all, and a key without `admin` only its own. They are recorded without end users, so
 * that a caller who is bound to one sees none.
 */
export type Refusals = ReturnType<typeof createRefusals>

export interface RefusalsDeps {
  readonly database: Pick<Database, 'sql' | 'prisma'>
  readonly runtime: Pick<Runtime, 'now'>
  readonly limits: Pick<Limits, 'calls' | 'reports'>
  readonly reads: Reads
  /** Whose agents a query may name before they have been called. */
  readonly catalog: Pick<AgentCatalog, 'knownIds'>
}

export function createRefusals({ database, runtime, limits, reads, catalog }: RefusalsDeps) {
  const { sql, prisma } = database
  const requireCalledAgent = createRequireKnownAgent(catalog, sql)
  const requireKnownAgent: RequireKnownAgent = async (agent, slices) => {
    if (agent !== NO_AGENT && agent !== OTHER_AGENT) await requireCalledAgent(agent, slices)
  }
  return {
    ...createRecordList<RefusalsInput, RefusalsQuery, Refusal, string, ForwardPage>(reads, {
      limiter: limits.calls,
      parse(input, caller) {
        requireUnbound(caller)
        return parseRefusalsQuery(input)
      },
      beforeOf: ({ cursor }) => (cursor === undefined ? undefined : idOfCursor(cursor)),
      keyOf: ({ id }) => id,
      async select(caller, query, slices) {
        const scope = await scopeOf(sql, caller, query)
        await requireKnownAgent(query.agent, slices)
        const where = filterOf(scope, query)
        const { from, to } = query
        const rows: RowsById = { sql, slices, table: 'refusals', columns: indexedIn(scope), from, to }
        return {
          inRanges: (before, read) => inRangesOfIds(rows, before, read),
          async find(id, take) {
            const found = await prisma.refusal.findMany({
              where: { AND: [where, { id }] },
              take,
              orderBy: { id: 'desc' },
            })
            return found.map(listed)
          },
          count: (id, take) => prisma.refusal.count({ where: { AND: [where, { id }] }, take }),
        }
      },
    }),
    /** The last refusal of each request with one of these ids, by request id. Refusals that are gone or that the caller may not see are left out. */
    async findMany(caller: Principal, requestIds: readonly string[]): Promise<ReadonlyMap<string, Refusal>> {
      requireUnbound(caller)
      const columns = columnsIn(ownScopeOf(caller))
      const last = await sql.query<{ id: string }>(lastOfRequests(columns), [
        requestIds,
        ...Object.values(columns),
      ])
      if (last.length === 0) return new Map()
      const rows = await prisma.refusal.findMany({ where: { id: { in: last.map(({ id }) => id) } } })
      return new Map(rows.map((row) => [row.requestId, listed(row)]))
    },
    /** How many requests were refused in each bucket of a range, by key, agent, reason and limit. It takes a point like a report. */
    async counts(
      caller: Principal,
      input: RefusalCountsInput,
      onLimit?: OnLimit,
      signal?: AbortSignal,
    ): Promise<RefusalCount[]> {
      requireUnbound(caller)
      const query = parseRefusalCountsQuery(input, runtime.now())
      await requireRead(reads, limits.reports, caller, onLimit, signal)
      return reads.inTurn({ owner: caller.userId, signal }, async (slices) => {
        const scope = await scopeOf(sql, caller, query)
        await requireKnownAgent(query.agent, slices)
        return readRefusalCounts({ sql, slices }, scope, query)
      })
    },
    /**
     * Applies the rules that need no database to the query for counts.
     *
     * @throws Problem `invalid_request` with all mistakes
     */
    checkCounts(input: RefusalCountsInput): void {
      parseRefusalCountsQuery(input, runtime.now())
    },
  }
}

/** What rows have in place of an agent where the request named none, or none that is configured. */
const NO_AGENT = ''
const OTHER_AGENT = 'other'

/** A client may give many requests one id, so that only the last refusal of each is read. */
function lastOfRequests(columns: ScopeColumns): string {
  const isOwn = Object.keys(columns).map((column, n) => ` AND r.${column} = $${n + 2}::uuid`)
  return `SELECT last.id::text FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id) AS asked
    CROSS JOIN LATERAL (
      SELECT r.id FROM refusals r WHERE r.request_id = asked.id${isOwn.join('')} ORDER BY r.id DESC LIMIT 1
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
