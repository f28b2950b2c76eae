import { validate } from 'uuid'
import type { Sql } from '#core/database/database.ts'
import { validIds } from '#core/database/valid-ids.ts'
import { refuseField } from '#core/errors.ts'
import { type ListQuery, readList } from '#core/input/pagination.ts'
import { isAdmin, type Principal } from '#core/principal.ts'
import type { Asking } from '#core/sharing/owner-turns.ts'
import type { Slices } from '#core/sharing/reads.ts'
import type { Call, Prisma, PrismaClient } from '#generated/prisma/client.ts'
import type { CallState, CallsQuery } from './calls-query.ts'
import type { ReadDeps } from './reports.ts'
import { ownScopeOf, type Scope, scopeOf } from './scope.ts'

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

/** Larger counts are not exact anywhere, because an exact one would read the whole ledger. */
export const COUNT_MAX = 10_000

/**
 * The number of calls that match the filter; null if there are more than {@link COUNT_MAX}.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function countCalls(
  { prisma, sql, reads, requireKnownAgent }: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  signal?: AbortSignal,
): Promise<number | null> {
  return reads.inTurn({ owner: caller.userId, signal }, async () => {
    const { slices } = reads
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent)
    const where = filterOf(scope, query)
    const count = (idRange: Prisma.CallWhereInput) =>
      prisma.call.count({ where: { AND: [where, idRange] }, take: COUNT_MAX + 1 })
    let counted = slices === undefined ? await count({}) : 0
    if (slices !== undefined) {
      for await (const { first, end } of slicesOf({ sql, slices, scope, query })) {
        counted += await slices.run(() => count({ id: { gte: first, lt: end } }))
        if (counted > COUNT_MAX) break
      }
    }
    return counted > COUNT_MAX ? null : counted
  })
}

const BATCH_ROWS = 1_000

/**
 * All calls that the caller may see, newest first, read in batches. The first batch is read before this resolves, so that
 * errors are thrown before a face has begun its response.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export async function exportCalls(
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
  return followingBatches(await read(), (last) => read(last.id))
}

async function* followingBatches(
  first: readonly Call[],
  readAfter: (last: Call) => Promise<readonly Call[]>,
): AsyncGenerator<Call> {
  for (let rows = first; ; ) {
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_ROWS) return
    rows = await readAfter(last)
  }
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
  { prisma, sql, reads, requireKnownAgent }: CallsDeps,
  caller: Principal,
  query: CallsQuery,
  { before, take, select, ...asking }: PageBefore,
): Promise<Call[]> {
  return reads.inTurn({ owner: caller.userId, ...asking }, async () => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent)
    const where = filterOf(scope, query)
    const find = (idRange: Prisma.CallWhereInput, takeMax: number) =>
      prisma.call.findMany({
        ...columnsOf({ select }),
        where: { AND: [where, idRange] },
        take: takeMax,
        orderBy: { id: 'desc' },
      })
    const rows =
      reads.slices === undefined
        ? await find(before === undefined ? {} : { id: { lt: before } }, take)
        : await findInSlices({ sql, slices: reads.slices, scope, query }, before, take, find)
    return rows.map(shownTo(caller))
  })
}

/**
 * Searches a bounded number of the scope's rows at a time, newest first. With a filter that matches few rows, a single
 * statement would read the whole ledger and block an embedded database meanwhile.
 */
async function findInSlices(
  { sql, slices, scope, query }: SlicedScope,
  cursor: string | undefined,
  take: number,
  find: (idRange: Prisma.CallWhereInput, takeMax: number) => Promise<Call[]>,
): Promise<Call[]> {
  const found: Call[] = []
  for await (const { first, end } of slicesOf({ sql, slices, scope, query }, cursor)) {
    while (found.length < take) {
      const lt = found.at(-1)?.id ?? end
      const some = await slices.run(async (rowsMax) => {
        const takeMax = Math.min(take - found.length, rowsMax)
        return { rows: await find({ id: { gte: first, lt: leastId(lt, end) } }, takeMax), takeMax }
      })
      found.push(...some.rows)
      if (some.rows.length < some.takeMax) break
    }
    if (found.length >= take) break
  }
  return found
}

interface SlicedScope {
  readonly sql: Sql
  readonly slices: Slices
  readonly scope: Scope
  readonly query: CallsQuery
}

/** Ranges of ids, newest first, that contain a bounded number of the scope's rows each. */
async function* slicesOf(
  { sql, slices, scope, query: { from, to } }: SlicedScope,
  cursor?: string,
): AsyncGenerator<{ first: string; end: string }> {
  const last = from === undefined ? LEAST_ID : idAt(from, -DAY_MS)
  let end = leastId(cursor, to === undefined ? GREATEST_ID : idAt(to, DAY_MS))
  while (end > last) {
    const first = await slices.run(async (rowsMax) => {
      const [row] = await sql.query<{ id: string }>(boundaryOf(scope), [end, rowsMax, ...ownerOf(scope)])
      return row === undefined || row.id < last ? last : row.id
    })
    yield { first, end }
    end = first
  }
}

const LEAST_ID = '00000000-0000-0000-0000-000000000000'
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function leastId(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other
}

/** Selects the row that is `$2` rows before `$1` in the scope. An index-only scan suffices for it. */
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

function filterOf(scope: Scope, query: CallsQuery): Prisma.CallWhereInput {
  const { agent, app, deployment, model, endUser, kind, face, outcome, requestId, conversation, from, to } =
    query
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
    ...((from !== undefined || to !== undefined) && {
      admittedAt: { ...(from && { gte: from }), ...(to && { lt: to }) },
      // Ids begin with the time, so the range of ids selects the rows through the primary key. The day of slack covers calls
      // whose process had not yet synchronized its clock with the database's.
      id: { ...(from && { gte: idAt(from, -DAY_MS) }), ...(to && { lt: idAt(to, DAY_MS) }) },
    }),
  }
}

function inStates(states: readonly CallState[]): Prisma.CallWhereInput[] {
  const outcomes = states.filter((state) => state !== 'running')
  return [{ outcome: { in: outcomes } }, ...(states.includes('running') ? [{ outcome: null }] : [])]
}

const DAY_MS = 86_400_000

/** The smallest UUID of version 7 whose time is this moment, moved by `slackMs`. */
function idAt(moment: Date, slackMs: number): string {
  const hex = Math.max(0, moment.getTime() + slackMs)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
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
