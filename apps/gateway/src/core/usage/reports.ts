import type { Sql } from '#core/database/database.ts'
import { refuseField } from '#core/errors.ts'
import { handled } from '#core/handled.ts'
import { createPauses } from '#core/pauses.ts'
import type { Principal } from '#core/principal.ts'
import type { RequireKnownAgent } from './known-agents.ts'
import type { Reads, Slices } from './reads.ts'
import type { ReportQuery } from './report-query.ts'
import { type ReportRange, reportRange } from './report-range.ts'
import type { Group, ReportRow } from './report-rows.ts'
import { readInSlices } from './report-slices.ts'
import { type Scope, scopeOf } from './scope.ts'
import { UsageAccumulator, type UsageMetrics } from './usage-accumulator.ts'

export interface Series {
  readonly group: Readonly<Partial<Record<Group, string>>>
  readonly totals: UsageMetrics
  /** One point for each bucket, including those without calls. */
  readonly points: readonly (UsageMetrics & { readonly start: Date })[]
}

export interface Report extends Pick<ReportQuery, 'timezone' | 'granularity' | 'groupBy'> {
  /** The range of the report: all buckets that overlap the requested range, in full. */
  readonly from: Date
  readonly to: Date
  readonly totals: UsageMetrics
  readonly series: readonly Series[]
}

/** Larger reports are rejected: a report is meant for people, and each point costs memory. */
const POINTS_MAX = 50_000
/** A point may consist of rollups of several spans. */
const ROWS_MAX = 2 * POINTS_MAX

const NIL = '00000000-0000-0000-0000-000000000000'

/** The dependencies of reading reports and the ledger. */
export interface ReadDeps {
  readonly sql: Sql
  readonly reads: Reads
  readonly requireKnownAgent: RequireKnownAgent
}

/**
 * Computes a report from the rollups alone, without reading the ledger.
 *
 * @throws Problem `invalid_request`, `key_not_found`, `user_not_found`
 */
export function readReport(
  { sql, reads, requireKnownAgent }: ReadDeps,
  caller: Principal,
  query: ReportQuery,
): Promise<Report> {
  const range = reportRange(query.from, query.to, query.timezone, query.granularity)
  return reads.inTurn(async () => {
    const scope = await scopeOf(sql, caller, query)
    await requireKnownAgent(query.agent)
    const source = sourceOf(scope, query.groupBy)
    const rows =
      reads.slices === undefined
        ? await readWhole(sql, source, range, query)
        : await readSliced(sql, reads.slices, source, range, query)
    return toReport(rows, range, query)
  })
}

function readWhole(sql: Sql, source: Source, range: ReportRange, query: ReportQuery): Promise<ReportRow[]> {
  return sql.query<ReportRow>(statementOf(source, query.groupBy), [
    JSON.stringify(range.segments),
    source.grain,
    source.owner ?? null,
    source.subject ?? null,
    query.agent ?? null,
  ])
}

async function readSliced(
  sql: Sql,
  slices: Slices,
  source: Source,
  { segments, starts }: ReportRange,
  { agent, groupBy }: ReportQuery,
): Promise<ReportRow[]> {
  return readInSlices(sql, slices, {
    grain: source.grain,
    subjects: source.subject === undefined ? await subjectsOf(sql, slices, source) : [source.subject],
    columns: columnsOf(source, groupBy),
    groupsMax: POINTS_MAX / starts.length,
    agent: agent ?? null,
    ...{ segments, groupBy },
  })
}

/** The ids of all keys, or of all users, that may have rollups of this grain. */
async function subjectsOf(sql: Sql, slices: Slices, { grain, owner }: Source): Promise<string[]> {
  const table = isOfKeys(grain) ? 'api_keys' : 'users'
  const statement = `
    SELECT id::text FROM ${table}
    WHERE id > $1::uuid ${owner === undefined ? 'AND $2::uuid IS NULL' : 'AND owner_id = $2::uuid'} ORDER BY id LIMIT $3`
  const subjects: string[] = []
  for (let last = NIL; ; last = subjects.at(-1) ?? NIL) {
    const page = await slices.run(async (rowsMax) => {
      const rows = await sql.query<{ id: string }>(statement, [last, owner ?? null, rowsMax])
      return { rows, isFull: rows.length === rowsMax }
    })
    subjects.push(...page.rows.map(({ id }) => id))
    if (!page.isFull) return subjects
  }
}

interface Source {
  readonly grain: 'all' | 'owner' | 'key' | 'end_user'
  readonly subject?: string
  /** Restricts the rollups to the keys of this owner. */
  readonly owner?: string
}

/** Chooses the coarsest grain that answers the query, since fewer rows make a faster report. */
function sourceOf(scope: Scope, groupBy: readonly Group[]): Source {
  const byEndUser = groupBy.includes('end_user')
  // End users have rollups for each key, which a report over several keys adds up.
  const grain = byEndUser ? 'end_user' : 'key'
  if (scope.kind === 'key') return { grain, subject: scope.keyId }
  if (byEndUser || groupBy.includes('key')) {
    return scope.kind === 'owner' ? { grain, owner: scope.ownerId } : { grain }
  }
  if (scope.kind === 'owner') return { grain: 'owner', subject: scope.ownerId }
  return groupBy.includes('user') ? { grain: 'owner' } : { grain: 'all', subject: '' }
}

/**
 * Reads and sums each segment by itself, because its rows are adjacent in an index. With a plain join the planner might not
 * use it.
 */
function statementOf({ grain, subject, owner }: Source, groupBy: readonly Group[]): string {
  const subjects =
    owner !== undefined
      ? 'r.subject IN (SELECT id::text FROM api_keys WHERE owner_id = $3::uuid) AND $4::text IS NULL'
      : subject !== undefined
        ? '$3::text IS NULL AND r.subject = $4'
        : '$3::text IS NULL AND $4::text IS NULL'
  return `
SELECT s.start, s.sign, sums.*
FROM json_to_recordset($1::json) AS s(start timestamptz, sign int, span rollup_span, "from" timestamptz, "to" timestamptz)
CROSS JOIN LATERAL (
  SELECT ${columnsOf({ grain }, groupBy)}
  FROM rollups r
  WHERE r.span = s.span AND r.grain = $2::rollup_grain AND r.bucket >= s."from" AND r.bucket < s."to"
    AND ${subjects} AND ($5::text IS NULL OR r.agent = $5) AND r.calls > 0
  GROUP BY ${groupBy.map((_group, index) => String(index + 1)).join(', ') || '()'}
  HAVING count(*) > 0
) AS sums
LIMIT ${ROWS_MAX + 1}`
}

/** Whether the subjects of its rollups are keys. */
function isOfKeys(grain: Source['grain']): boolean {
  return grain === 'key' || grain === 'end_user'
}

/** The columns of the groups and then those of the sums; the rollups are named `r`. */
function columnsOf({ grain }: Pick<Source, 'grain'>, groupBy: readonly Group[]): string {
  const column: Record<Group, string> = {
    key: 'r.subject',
    user: isOfKeys(grain) ? '(SELECT owner_id::text FROM api_keys WHERE id = r.subject::uuid)' : 'r.subject',
    end_user: 'r.end_user',
    agent: 'r.agent',
    app: 'r.app',
    model: 'r.model',
    outcome: 'r.outcome::text',
  }
  const columns = groupBy.map((group) => `${column[group]} AS "${group}", `).join('')
  return `${columns}sum(r.calls)::int8 AS calls,
    coalesce(sum(r.calls) FILTER (WHERE r.outcome IN ('upstream_error', 'timeout', 'drained', 'interrupted')), 0)::int8 AS failed,
    sum(r.token_calls)::int8 AS token_calls, sum(r.prompt_tokens)::int8 AS prompt_tokens,
    sum(r.completion_tokens)::int8 AS completion_tokens, sum(r.total_tokens)::int8 AS total_tokens,
    string_agg(r.first_chunk::text, '') AS first_chunk,
    string_agg(r.duration::text, '') AS duration`
}

/** Builds the report. A large one takes half a second, so the work is paused regularly for the event loop. */
async function toReport(
  rows: readonly ReportRow[],
  range: ReportRange,
  { timezone, granularity, groupBy }: ReportQuery,
): Promise<Report> {
  const pause = createPauses()
  const groups = new Map<string, ReportRow[]>()
  for (const row of rows) {
    const name = JSON.stringify(groupBy.map((group) => row[group]))
    const own = groups.get(name)
    if (own === undefined) groups.set(name, [row])
    else own.push(row)
    // Awaiting for every row would cost more than the work itself.
    const pausing = handled(pause())
    if (pausing !== undefined) await pausing
  }
  // Without grouping there is one series, even if there were no calls.
  if (groupBy.length === 0 && groups.size === 0) groups.set('[]', [])
  if (groups.size * range.starts.length > POINTS_MAX || rows.length > ROWS_MAX) {
    refuseField(['groupBy'], 'gives too many points; expected a shorter range or fewer groups.')
  }
  const totals = new UsageAccumulator()
  const series: Series[] = []
  for (const own of groups.values()) {
    const one = sumSeries(own, range.starts, groupBy, totals)
    // A group that consists only of hours that were added and subtracted again has no calls and is left out.
    if (groupBy.length === 0 || one.totals.calls > 0) series.push(one)
    await pause()
  }
  series.sort((one, other) => other.totals.calls - one.totals.calls || inOrder(one.group, other.group))
  return {
    ...{ from: range.from, to: range.to, timezone, granularity, groupBy },
    ...{ totals: totals.metrics(), series },
  }
}

/** Orders groups with the same number of calls by name, so that the order of a report is stable. */
function inOrder(one: Series['group'], other: Series['group']): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}

const NOTHING = new UsageAccumulator().metrics()

/** The totals of a series are summed from its points, and those of the report from the series, so that every row is read once. */
function sumSeries(
  rows: readonly ReportRow[],
  starts: readonly Date[],
  groupBy: readonly Group[],
  reportTotals: UsageAccumulator,
): Series {
  const byStart = Map.groupBy(rows, (row) => row.start.getTime())
  const totals = new UsageAccumulator()
  const sums = new UsageAccumulator()
  const points = starts.map((start) => {
    const own = byStart.get(start.getTime())
    if (own === undefined) return { start, ...NOTHING }
    sums.clear()
    for (const row of own) sums.addRow(row)
    totals.add(sums)
    return { start, ...sums.metrics() }
  })
  reportTotals.add(totals)
  const group = Object.fromEntries(groupBy.map((name) => [name, rows[0]?.[name] ?? '']))
  return { group, totals: totals.metrics(), points }
}
