import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { refuseField } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import type { Principal } from '#core/requests/principal.ts'
import { readConversationRows } from './conversation-rows.ts'
import { type ReportRange, rangeBefore, reportRange } from './range/report-range.ts'
import type { ReportQuery } from './report-query.ts'
import { type Group, type ReportRow, type RollupGroup, rollupGroups } from './report-rows.ts'
import { grainOfKeys, POINT_ROWS_MAX, POINTS_MAX, readRows, sourceOf } from './report-source.ts'
import type { RequireKnownAgent } from './require-known-agent.ts'
import { keysInScope, scopeOf } from './scope.ts'
import { UsageAccumulator, type UsageMetrics } from './usage-accumulator.ts'

export interface ReportGroup {
  readonly group: Readonly<Partial<Record<Group, string>>>
  readonly totals: UsageMetrics
  /** One point for each bucket, including those without calls; the first and the last have only what lies in the range. */
  readonly points: readonly (UsageMetrics & { readonly start: Date })[]
}

export interface Report extends ReportQuery {
  /** The range of the report: the hours that the requested range touches. */
  readonly from: Date
  readonly to: Date
  readonly totals: UsageMetrics
  /** The points of all groups together. */
  readonly points: ReportGroup['points']
  readonly groups: readonly ReportGroup[]
}

/** The query for the report that this one is compared with: by default that of the period before, which is as long. */
export function queryBefore(report: Report): ReportQuery {
  const { totals: _totals, points: _points, groups: _groups, compared, ...query } = report
  return { ...query, ...(compared ?? rangeBefore(report)) }
}

/** The dependencies of reading reports and the ledger. */
export interface ReadDeps {
  readonly sql: Sql
  readonly reads: Reads
  readonly requireKnownAgent: RequireKnownAgent
}

/**
 * Computes a report from the rollups alone, without reading the ledger, unless it is grouped by conversation.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function readReport(
  { sql, reads, requireKnownAgent }: ReadDeps,
  caller: Principal,
  query: ReportQuery,
  signal?: AbortSignal,
): Promise<Report> {
  const range = reportRange(query.from, query.to, query.timezone, query.granularity)
  return reads.inTurn({ owner: caller.userId, signal }, async (slices) => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent, slices)
    if (query.groupBy.includes('conversation')) {
      return toReport(await readConversationRows(sql, scope, range, query), range, query)
    }
    const source = sourceOf(scope, query)
    const rollups = { ...query, boundTo: scope.endUser, groupBy: rollupGroups(query.groupBy) }
    return toReport(await readRows({ sql, slices }, source, range, rollups), range, query)
  })
}

/**
 * Reports of several keys, by their ids, from one read of the rollups. Keys whose calls the caller may not read are left
 * out.
 *
 * @throws Problem `invalid_request`
 */
export function readReportsOfKeys(
  { sql, reads, requireKnownAgent }: ReadDeps,
  caller: Principal,
  keyIds: readonly string[],
  query: ReportQuery,
  signal?: AbortSignal,
): Promise<Map<string, Report>> {
  const range = reportRange(query.from, query.to, query.timezone, query.granularity)
  if (query.groupBy.includes('conversation')) {
    refuseField(
      ['groupBy'],
      'expected no conversation, by which the reports of several keys cannot be grouped.',
    )
  }
  requireFewPoints(keyIds.length, range.starts.length)
  return reads.inTurn({ owner: caller.userId, signal }, async (slices) => {
    const subjects = await keysInScope(sql, caller, keyIds)
    await requireKnownAgent(query.agent, slices)
    const groupBy = [...new Set<RollupGroup>(['key', ...rollupGroups(query.groupBy)])]
    const source = { grain: grainOfKeys(query, caller), subjects }
    const rollups = { ...query, boundTo: caller.endUser, groupBy }
    const rows = await readRows({ sql, slices }, source, range, rollups)
    if (rows.length > POINT_ROWS_MAX) refuseLargeReport()
    const byKey = Map.groupBy(rows, ({ key }) => key)
    const reports = new Map<string, Report>()
    for (const id of subjects) {
      reports.set(id, await toReport(byKey.get(id) ?? [], range, { ...query, keyId: id }))
    }
    return reports
  })
}

/** Builds the report. A large one takes half a second, so the work is paused regularly for the event loop. */
async function toReport(rows: readonly ReportRow[], range: ReportRange, query: ReportQuery): Promise<Report> {
  const { groupBy } = query
  const yieldToEventLoop = createEventLoopYield()
  const byGroup = new Map<string, ReportRow[]>()
  for (const row of rows) {
    const name = JSON.stringify(groupBy.map((group) => row[group]))
    const own = byGroup.get(name)
    if (own === undefined) byGroup.set(name, [row])
    else own.push(row)
    // Awaiting for every row would cost more than the work itself.
    const pausing = markRejectionHandled(yieldToEventLoop())
    if (pausing !== undefined) await pausing
  }
  // Without grouping there is one group, even if there were no calls.
  if (groupBy.length === 0 && byGroup.size === 0) byGroup.set('[]', [])
  requireFewPoints(byGroup.size, range.starts.length)
  if (rows.length > POINT_ROWS_MAX) refuseLargeReport()
  const overall = new Overall()
  const groups: ReportGroup[] = []
  for (const own of byGroup.values()) {
    const one = sumGroup(own, range.starts, groupBy, overall)
    // A group that consists only of hours that were added and subtracted again has no calls and is left out.
    if (groupBy.length === 0 || one.totals.calls > 0) groups.push(one)
    await yieldToEventLoop()
  }
  groups.sort((one, other) => other.totals.calls - one.totals.calls || inOrder(one.group, other.group))
  return {
    ...query,
    from: range.from,
    to: range.to,
    totals: overall.totals.metrics(),
    points: overall.points(range.starts),
    groups,
  }
}

/** @throws Problem `invalid_request` if so many groups of so many points are more than a report may have */
export function requireFewPoints(groups: number, points: number): void {
  if (groups * points > POINTS_MAX) refuseLargeReport()
}

function refuseLargeReport(): never {
  refuseField(['groupBy'], 'gives too many points; expected a shorter range or fewer groups.')
}

/** The sums of all groups. Buckets without calls cost nothing. */
class Overall {
  readonly totals = new UsageAccumulator()
  readonly #buckets = new Map<number, UsageAccumulator>()

  addPoint(start: Date, sums: UsageAccumulator): void {
    const known = this.#buckets.get(start.getTime())
    const bucket = known ?? new UsageAccumulator()
    bucket.add(sums)
    if (known === undefined) this.#buckets.set(start.getTime(), bucket)
  }

  points(starts: readonly Date[]): ReportGroup['points'] {
    return starts.map((start) => ({
      start,
      ...(this.#buckets.get(start.getTime())?.metrics() ?? NOTHING),
    }))
  }
}

/** Orders groups with the same number of calls by name, so that the order of a report is stable. */
function inOrder(one: ReportGroup['group'], other: ReportGroup['group']): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}

const NOTHING = new UsageAccumulator().metrics()

/** Totals are summed from points, and those of the report from the groups, so that every row is read once. */
function sumGroup(
  rows: readonly ReportRow[],
  starts: readonly Date[],
  groupBy: readonly Group[],
  overall: Overall,
): ReportGroup {
  const byStart = Map.groupBy(rows, (row) => row.start.getTime())
  const totals = new UsageAccumulator()
  const sums = new UsageAccumulator()
  const points = starts.map((start) => {
    const own = byStart.get(start.getTime())
    if (own === undefined) return { start, ...NOTHING }
    sums.clear()
    for (const row of own) sums.addRow(row)
    totals.add(sums)
    overall.addPoint(start, sums)
    return { start, ...sums.metrics() }
  })
  overall.totals.add(totals)
  const group = Object.fromEntries(groupBy.map((name) => [name, rows[0]?.[name] ?? '']))
  return { group, totals: totals.metrics(), points }
}
