import type { Sql } from '#core/database/database.ts'
import { type Page, type PageRequest, readPage } from '#core/pagination.ts'
import type { Principal } from '#core/principal.ts'
import { isAdmin } from '#core/principal.ts'
import type { Call, CallOutcome, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import { type Scope, type ScopeFilter, scopeOf } from './scope.ts'

export interface CallsQuery extends ScopeFilter {
  readonly agent?: string | undefined
  /** `running` for calls that have not ended. */
  readonly outcome?: CallOutcome | 'running' | undefined
  readonly requestId?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** A row of the ledger. What the platform said of itself is for administrators. */
export type CallRecord = Omit<Call, 'instance'>

export async function readCalls(
  { prisma, sql }: { prisma: PrismaClient; sql: Sql },
  caller: Principal,
  query: CallsQuery,
  page: PageRequest,
): Promise<Page<CallRecord>> {
  const where = filterOf(await scopeOf(sql, caller, query), query)
  const { items, nextCursor } = await readPage(page, ({ where: position, ...order }) =>
    prisma.call.findMany({ where: { AND: [where, position] }, ...order, omit: { instance: true } }),
  )
  return { items: isAdmin(caller) ? items : items.map(withoutPlatform), nextCursor }
}

function filterOf(scope: Scope, { agent, outcome, requestId, from, to }: CallsQuery): Prisma.CallWhereInput {
  return {
    ...(scope.kind === 'key' && { keyId: scope.keyId }),
    ...(scope.kind === 'owner' && { ownerId: scope.ownerId }),
    ...(agent !== undefined && { agent }),
    ...(outcome !== undefined && { outcome: outcome === 'running' ? null : outcome }),
    ...(requestId !== undefined && { requestId }),
    ...((from !== undefined || to !== undefined) && {
      admittedAt: { ...(from && { gte: from }), ...(to && { lt: to }) },
      // Ids begin with the time: they find the rows, a day of slack covers those of a process that has not yet asked for the time.
      id: { ...(from && { gte: idAt(from, -DAY_MS) }), ...(to && { lt: idAt(to, DAY_MS) }) },
    }),
  }
}

const DAY_MS = 86_400_000

/** The least UUID whose time is this moment. */
function idAt(moment: Date, slackMs: number): string {
  const hex = Math.max(0, moment.getTime() + slackMs)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function withoutPlatform(call: CallRecord): CallRecord {
  return { ...call, platformStatus: null, platformCode: null, platformLogId: null }
}
