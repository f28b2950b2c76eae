import type { Sql } from '#core/database/database.ts'
import { type Page, type PageRequest, readPage } from '#core/pagination.ts'
import type { Principal } from '#core/principal.ts'
import { isAdmin } from '#core/principal.ts'
import type { Call, CallOutcome, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import type { Slices } from './reads.ts'
import type { ReadDeps } from './reports.ts'
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

export function readCalls(
  { prisma, sql, reads, requireKnownAgent }: ReadDeps & { prisma: PrismaClient },
  caller: Principal,
  query: CallsQuery,
  page: PageRequest,
): Promise<Page<CallRecord>> {
  return reads.inTurn(async () => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent)
    const where = filterOf(scope, query)
    const { items, nextCursor } = await readPage(page, ({ where: position, take, orderBy }) => {
      const find = (stretch: Prisma.CallWhereInput, takeMax: number) =>
        prisma.call.findMany({
          where: { AND: [where, position, stretch] },
          take: takeMax,
          orderBy,
          omit: { instance: true },
        })
      return reads.slices === undefined
        ? find({}, take)
        : findInSlices({ sql, slices: reads.slices, scope, query }, position.id?.lt, take, find)
    })
    return { items: isAdmin(caller) ? items : items.map(withoutPlatform), nextCursor }
  })
}

/**
 * Looks through a bounded number of the scope's rows at a time, newest first: where a filter lets few of them pass, one
 * statement would read the whole ledger.
 */
async function findInSlices(
  { sql, slices, scope, query }: { sql: Sql; slices: Slices; scope: Scope; query: CallsQuery },
  cursor: string | undefined,
  take: number,
  find: (stretch: Prisma.CallWhereInput, takeMax: number) => Promise<CallRecord[]>,
): Promise<CallRecord[]> {
  const found: CallRecord[] = []
  const last = query.from === undefined ? LEAST_ID : idAt(query.from, -DAY_MS)
  let end = leastId(cursor, query.to === undefined ? GREATEST_ID : idAt(query.to, DAY_MS))
  while (found.length < take && end > last) {
    const first = await slices.run(async (rowsMax) => {
      const [row] = await sql.query<{ id: string }>(boundaryOf(scope), [end, rowsMax, ...ownerOf(scope)])
      return row === undefined || row.id < last ? last : row.id
    })
    while (found.length < take) {
      const lt = found.at(-1)?.id ?? end
      const some = await slices.run(async (rowsMax) => {
        const takeMax = Math.min(take - found.length, rowsMax)
        return { rows: await find({ id: { gte: first, lt: leastId(lt, end) } }, takeMax), takeMax }
      })
      found.push(...some.rows)
      if (some.rows.length < some.takeMax) break
    }
    end = first
  }
  return found
}

const LEAST_ID = '00000000-0000-0000-0000-000000000000'
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function leastId(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other
}

/** The row that stands so many before `$1` in the scope; it is read from an index alone. */
function boundaryOf(scope: Scope): string {
  const mine = { all: '', owner: 'AND owner_id = $3::uuid', key: 'AND key_id = $3::uuid' }[scope.kind]
  return `SELECT id::text FROM calls WHERE id < $1::uuid ${mine} ORDER BY id DESC OFFSET $2 LIMIT 1`
}

function ownerOf(scope: Scope): string[] {
  switch (scope.kind) {
    case 'all':
      return []
    case 'owner':
      return [scope.ownerId]
    case 'key':
      return [scope.keyId]
  }
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
