import { KEY_OWNERS } from '#core/accounts/keys/key-owners.ts'
import type { Sql } from '#core/database/database.ts'
import { inSlices } from '#core/limits/sharing/read-in-slices.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { ReportRange } from './range/report-range.ts'
import type { ReportQuery } from './report-query.ts'
import { filterInSql, type ReportRow, type RollupFilter, type RollupGroup, SUMS } from './report-rows.ts'
import { readInSlices } from './report-slices.ts'
import type { Scope } from './scope.ts'

/** Larger reports are rejected: a report is meant for people, and each point costs memory. */
export const POINTS_MAX = 50_000
/** A point may consist of rollups of several spans. */
export const POINT_ROWS_MAX = 2 * POINTS_MAX

const NIL = '00000000-0000-0000-0000-000000000000'

/** A query that the rollups answer. */
export interface RollupQuery extends ReportQuery, Pick<RollupFilter, 'boundTo'> {
  readonly groupBy: readonly RollupGroup[]
}

/** Reads the sums of each group in each bucket: in one statement, or in slices on an embedded database. */
export function readRows(
  { sql, slices }: { sql: Sql; slices: Slices | undefined },
  source: Source,
  range: ReportRange,
  query: RollupQuery,
): Promise<ReportRow[]> {
  return slices === undefined
    ? readWhole(sql, source, range, query)
    : readSliced(sql, slices, source, range, query)
}

function readWhole(sql: Sql, source: Source, range: ReportRange, query: RollupQuery): Promise<ReportRow[]> {
  const { condition, values } = filterInSql(query, 5)
  return sql.query<ReportRow>(statementOf(source, query.groupBy, condition), [
    JSON.stringify(range.segments),
    source.grain,
    source.owner ?? null,
    source.subjects === undefined ? null : JSON.stringify(source.subjects),
    ...values,
  ])
}

async function readSliced(
  sql: Sql,
  slices: Slices,
  source: Source,
  { segments, starts }: ReportRange,
  query: RollupQuery,
): Promise<ReportRow[]> {
  return readInSlices(sql, slices, {
    grain: source.grain,
    subjects: source.subjects ?? (await subjectsOf(sql, slices, source)),
    columns: columnsOf(source, query.groupBy),
    groupsMax: POINTS_MAX / starts.length,
    filter: query,
    segments,
    groupBy: query.groupBy,
  })
}

/** The ids of all keys, or of all users, that may have rollups of this grain. */
async function subjectsOf(sql: Sql, slices: Slices, { grain, owner }: Source): Promise<string[]> {
  const table = isOfKeys(grain) ? KEY_OWNERS : 'users'
  const statement = `
    SELECT id::text FROM ${table} AS s
    WHERE id > $1::uuid ${owner === undefined ? 'AND $2::uuid IS NULL' : 'AND owner_id = $2::uuid'} ORDER BY s.id LIMIT $3`
  const subjects: string[] = []
  for await (const ids of inSlices(slices, NIL, async (last, rowsMax) => {
    const rows = await sql.query<{ id: string }>(statement, [last, owner ?? null, rowsMax])
    const result = rows.map(({ id }) => id)
    return { result, next: result.length === rowsMax ? result.at(-1) : undefined }
  })) {
    subjects.push(...ids)
  }
  return subjects
}

export interface Source {
  readonly grain: 'all' | 'owner' | 'key' | 'end_user'
  readonly subjects?: readonly string[]
  /** Restricts the rollups to the keys of this owner. */
  readonly owner?: string
}

/** Chooses the coarsest grain that answers the query, since fewer rows make a faster report. */
export function sourceOf(scope: Scope, query: Pick<ReportQuery, 'groupBy' | 'endUser'>): Source {
  const { groupBy } = query
  const grain = grainOfKeys(query, scope)
  const byEndUser = grain === 'end_user'
  if (scope.kind === 'key') return { grain, subjects: [scope.keyId] }
  if (byEndUser || groupBy.includes('key')) {
    return scope.kind === 'owner' ? { grain, owner: scope.ownerId } : { grain }
  }
  if (scope.kind === 'owner') return { grain: 'owner', subjects: [scope.ownerId] }
  return groupBy.includes('user') ? { grain: 'owner' } : { grain: 'all', subjects: [''] }
}

/** The grain for keys. End users have rollups for each key, which a report over several keys adds up. */
export function grainOfKeys(
  { groupBy, endUser }: Pick<ReportQuery, 'groupBy' | 'endUser'>,
  caller: Pick<Principal, 'endUser'>,
): 'end_user' | 'key' {
  const names = groupBy.includes('end_user') || endUser !== undefined || caller.endUser !== undefined
  return names ? 'end_user' : 'key'
}

/**
 * Reads and sums each segment by itself, because its rows are adjacent in an index. With a plain join the planner might not
 * use it.
 */
function statementOf(
  { grain, subjects: given, owner }: Source,
  groupBy: readonly RollupGroup[],
  condition: string,
): string {
  const subjects =
    owner !== undefined
      ? `r.subject IN (SELECT id::text FROM ${KEY_OWNERS} AS k WHERE owner_id = $3::uuid) AND $4::text IS NULL`
      : given !== undefined
        ? `$3::text IS NULL AND r.subject ${given.length === 1 ? '= $4::json ->> 0' : `= ANY (${GIVEN})`}`
        : '$3::text IS NULL AND $4::text IS NULL'
  return `
SELECT s.start, s.sign, sums.*
FROM json_to_recordset($1::json) AS s(start timestamptz, sign int, span rollup_span, "from" timestamptz, "to" timestamptz)
CROSS JOIN LATERAL (
  SELECT ${columnsOf({ grain }, groupBy)}
  FROM rollups r
  WHERE r.span = s.span AND r.grain = $2::rollup_grain AND r.bucket >= s."from" AND r.bucket < s."to"
    AND ${subjects} AND ${condition}
  GROUP BY ${groupBy.map((_group, index) => String(index + 1)).join(', ') || '()'}
  HAVING count(*) > 0
) AS sums
LIMIT ${POINT_ROWS_MAX + 1}`
}

const GIVEN = 'ARRAY(SELECT value FROM json_array_elements_text($4::json))'

/** Whether the subjects of its rollups are keys. */
function isOfKeys(grain: Source['grain']): boolean {
  return grain === 'key' || grain === 'end_user'
}

/** The columns of the groups and then those of the sums; the rollups are named `r`. */
function columnsOf({ grain }: Pick<Source, 'grain'>, groupBy: readonly RollupGroup[]): string {
  const column: Record<RollupGroup, string> = {
    key: 'r.subject',
    user: isOfKeys(grain)
      ? `(SELECT owner_id::text FROM ${KEY_OWNERS} AS k WHERE k.id = r.subject::uuid LIMIT 1)`
      : 'r.subject',
    end_user: 'r.end_user',
    agent: 'r.agent',
    app: 'r.app',
    model: 'r.model',
    outcome: 'r.outcome::text',
  }
  const columns = groupBy.map((group) => `${column[group]} AS "${group}", `).join('')
  return `${columns}${SUMS}`
}
