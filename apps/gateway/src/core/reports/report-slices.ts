import type { Sql } from '#core/database/database.ts'
import { inSlices } from '#core/limits/sharing/read-in-slices.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import type { Granularity } from './range/calendar.ts'
import type { Segment } from './range/report-range.ts'
import { filterInSql, type ReportRow, type RollupFilter, type RollupGroup } from './report-rows.ts'

/** The rollups that a report reads, and how it sums them. */
export interface SlicedRead {
  readonly grain: string
  /** The ids of the keys or users whose rollups are read, or a single empty text for the grain `all`. */
  readonly subjects: readonly string[]
  readonly segments: readonly Segment[]
  readonly filter: RollupFilter
  readonly groupBy: readonly RollupGroup[]
  /** The SQL of the columns of the groups and the sums, in which the rollups are named `r`. */
  readonly columns: string
  /** Reading stops when there are more groups than this, because the report will be rejected anyway. */
  readonly groupsMax: number
}

/**
 * Reads a bounded number of rollups at a time, in the order of their primary key, and adds up the sums of the slices. The
 * result is the same as that of the single statement in report-source.ts, without its long run time.
 */
export async function readInSlices(sql: Sql, slices: Slices, read: SlicedRead): Promise<ReportRow[]> {
  const { condition, values: filterValues } = filterInSql(read.filter, 4)
  const statement = statementOf(read, condition)
  const segmentsOf = segmentFinder(read.segments)
  const rows = new Map<string, ReportRow>()
  const groups = new Set<string>()
  const ranges = keyRangesOf(read)
  if (ranges.length === 0) return []
  const found = inSlices(slices, ranges, async (pending, rowsMax) => {
    const sent = pending.slice(0, rowsMax)
    const values = [JSON.stringify(sent.map(toTask)), read.grain, rowsMax, ...filterValues]
    const result = await sql.query<SliceRow>(statement, values)
    const next = [...remainingOf(sent, result[0]), ...pending.slice(sent.length)]
    return { result, next: next.length === 0 ? undefined : next }
  })
  for await (const slice of found) {
    for (const { last: _last, isFull: _isFull, span, bucket, ...sums } of slice) {
      if (span === null || bucket === null) continue
      const group = JSON.stringify(read.groupBy.map((name) => sums[name]))
      groups.add(group)
      for (const { start, sign } of segmentsOf(span, bucket)) {
        const key = `${start.getTime()} ${sign} ${group}`
        const known = rows.get(key)
        rows.set(key, known === undefined ? { ...sums, start, sign } : merged(known, sums))
      }
    }
    if (groups.size > read.groupsMax) break
  }
  return [...rows.values()]
}

type GroupSums = Omit<ReportRow, 'start' | 'sign'>

interface SliceRow extends GroupSums {
  /** Null in the only row of a slice in which no rollup passed the filters. */
  readonly span: Granularity | null
  readonly bucket: Date | null
  /** Whether the slice has as many rollups as it may have, so that there may be more. */
  readonly isFull: boolean
  readonly last: Place | null
}

/** The last rollup of a slice. */
interface Place {
  /** The index of its range among those that were sent. */
  readonly n: number
  readonly bucket: string
  readonly end_user: string
  readonly kind: string
  readonly agent: string
  readonly app: string
  readonly model: string
  readonly outcome: string
}

/** A range of the primary key: rollups of one span and subject. */
interface KeyRange {
  readonly span: Granularity
  readonly subject: string
  readonly to: Date
  /** The position after which the range begins. */
  readonly after: Omit<Place, 'n'>
}

function keyRangesOf({ segments, subjects }: SlicedRead): KeyRange[] {
  const runs = runsOf(segments)
  return subjects.flatMap((subject) =>
    runs.map(({ span, from, to }) => ({ span, subject, to, after: before(from) })),
  )
}

/** A position before every rollup of this moment. The bucket alone decides; the other columns only need valid values. */
function before(from: Date): KeyRange['after'] {
  const bucket = new Date(from.getTime() - 1).toISOString()
  return { bucket, end_user: '', kind: 'chat', agent: '', app: '', model: '', outcome: 'done' }
}

/** Merges segments of one span that touch or overlap, so that no rollup is read twice. */
function runsOf(segments: readonly Segment[]): Pick<Segment, 'span' | 'from' | 'to'>[] {
  const runs: { span: Granularity; from: Date; to: Date }[] = []
  const inOrder = segments.toSorted(
    (one, other) => one.span.localeCompare(other.span) || one.from.getTime() - other.from.getTime(),
  )
  for (const { span, from, to } of inOrder) {
    const last = runs.at(-1)
    if (last === undefined || last.span !== span || last.to < from) runs.push({ span, from, to })
    else if (last.to < to) last.to = to
  }
  return runs
}

function toTask({ span, subject, to, after }: KeyRange, n: number) {
  return { n, span, subject, to, ...after }
}

/** The ranges that the slice did not read to their ends. */
function remainingOf(sent: readonly KeyRange[], result: SliceRow | undefined): KeyRange[] {
  if (result === undefined || !result.isFull || result.last === null) return []
  const { n, ...after } = result.last
  return sent.slice(n).map((range, index) => (index === 0 ? { ...range, after } : range))
}

/** Finds the segments that contain a rollup. There may be several: an hour can be added to one bucket and subtracted from another. */
function segmentFinder(
  segments: readonly Segment[],
): (span: Granularity, bucket: Date) => readonly Segment[] {
  const known = new Map<string, readonly Segment[]>()
  return (span, bucket) => {
    const key = `${span} ${bucket.getTime()}`
    let found = known.get(key)
    if (found === undefined) {
      found = segments.filter((each) => each.span === span && each.from <= bucket && bucket < each.to)
      known.set(key, found)
    }
    return found
  }
}

function merged(one: ReportRow, other: GroupSums): ReportRow {
  return {
    ...one,
    calls: one.calls + other.calls,
    failed: one.failed + other.failed,
    token_calls: one.token_calls + other.token_calls,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    rated_up: one.rated_up + other.rated_up,
    rated_down: one.rated_down + other.rated_down,
    first_chunk: (one.first_chunk ?? '') + (other.first_chunk ?? ''),
    duration: (one.duration ?? '') + (other.duration ?? ''),
  }
}

/** The columns of the primary key of `rollups` that follow span, grain and subject. */
const KEY = ['bucket', 'end_user', 'kind', 'agent', 'app', 'model', 'outcome']

/** They are compared as one value and sorted by, so that a planner without statistics reads by the primary key as well. */
export const keyOf = (table: string) => KEY.map((column) => `${table}.${column}`).join(', ')

/** `$1`: the key ranges in their order, `$2`: grain, `$3`: rollups to read at most, from `$4` on: the values of the condition. */
function statementOf({ columns, groupBy }: SlicedRead, condition: string): string {
  return `
WITH slice AS MATERIALIZED (
  SELECT t.n, r.*
  FROM json_to_recordset($1::json) AS t(n int, span rollup_span, subject text, "to" timestamptz, bucket timestamptz,
    end_user text, kind text, agent text, app text, model text, outcome text)
  CROSS JOIN LATERAL (
    SELECT * FROM rollups r
    WHERE r.span = t.span AND r.grain = $2::rollup_grain AND r.subject = t.subject
      AND r.bucket >= t.bucket AND r.bucket < t."to" AND (${keyOf('r')}) > (${keyOf('t')})
    ORDER BY ${keyOf('r')}
    LIMIT $3
  ) AS r
  LIMIT $3
), place AS (
  SELECT n, ${KEY.join(', ')} FROM slice ORDER BY n DESC, ${KEY.map((column) => `${column} DESC`).join(', ')} LIMIT 1
)
SELECT (SELECT count(*) FROM slice) >= $3 AS "isFull", (SELECT to_json(place) FROM place) AS last, sums.*
FROM (VALUES (1)) AS one
LEFT JOIN (
  SELECT r.span, r.bucket, ${columns}
  FROM slice r
  WHERE ${condition}
  GROUP BY ${[1, 2, ...groupBy.map((_group, index) => index + 3)].join(', ')}
) AS sums ON true`
}
