import { refuseField } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { inRanges, type Ranges } from '#core/limits/sharing/read-in-slices.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import type { Scope } from '#core/reports/scope.ts'
import type { Bucket, RefusalCountsQuery } from './refusal-counts-query.ts'

/** How many equal requests were refused in a bucket. */
export interface RefusalCount {
  readonly start: Date
  /** Null for access tokens and unknown credentials. */
  readonly keyId: string | null
  /** Null for unknown credentials. */
  readonly ownerId: string | null
  readonly agent: string
  readonly reason: string
  readonly limit: string
  readonly count: number
}

/** Larger answers are rejected: they are meant for people, and each row costs memory. */
export const COUNT_ROWS_MAX = 10_000

/**
 * The counts of the refusals that the scope has, in the order of time; those of a bucket with the most first.
 *
 * @throws Problem `invalid_request`
 */
export async function readRefusalCounts(
  { sql, slices }: { readonly sql: Sql; readonly slices: Slices | undefined },
  scope: Scope,
  query: RefusalCountsQuery,
): Promise<RefusalCount[]> {
  const statement = statementOf(scope, query)
  const sums = new Map<string, Row>()
  const [from, to] = [query.buckets[0]?.from, query.buckets.at(-1)?.to]
  if (from === undefined || to === undefined) return []
  const ranges = minutesOf(sql, scope, { from, to })
  for await (const rows of inRanges(slices, ranges, (start = from, end = to) => {
    const buckets = JSON.stringify(within(query.buckets, start, end))
    return sql.query<Row>(statement.text, [buckets, ...statement.values])
  })) {
    for (const row of rows) add(sums, row)
    if (sums.size > COUNT_ROWS_MAX) refuseLargeAnswer()
  }
  return [...sums.values()].sort(inOrder).map(countOf)
}

interface Row {
  readonly start: Date
  readonly key_id: string
  readonly owner_id: string
  readonly agent: string
  readonly reason: string
  readonly limit: string
  readonly count: number
}

function add(sums: Map<string, Row>, row: Row): void {
  const { start, key_id, owner_id, agent, reason, limit } = row
  const name = JSON.stringify([start.getTime(), key_id, owner_id, agent, reason, limit])
  const known = sums.get(name)
  sums.set(name, known === undefined ? row : { ...row, count: known.count + row.count })
}

function inOrder(one: Row, other: Row): number {
  return one.start.getTime() - other.start.getTime() || other.count - one.count
}

function countOf({ key_id, owner_id, ...row }: Row): RefusalCount {
  return { ...row, keyId: key_id || null, ownerId: owner_id || null }
}

function refuseLargeAnswer(): never {
  refuseField(
    ['from'],
    (nameOf) =>
      `has more than ${COUNT_ROWS_MAX} counts; expected a shorter range, a longer ${nameOf(['per'])} or a narrower filter.`,
  )
}

/** `$1` is the JSON of the buckets. Each is read by itself, because its rows are adjacent in an index. */
function statementOf(scope: Scope, query: RefusalCountsQuery): { text: string; values: readonly string[] } {
  const values: string[] = []
  const conditions = Object.entries({
    ...ownerOf(scope),
    agent: query.agent,
    reason: query.reason,
    '"limit"': query.limitName,
  }).flatMap(([column, value]) =>
    value === undefined ? [] : ` AND r.${column} = $${values.push(value) + 1}`,
  )
  const text = `
SELECT b.start, sums.*
FROM json_to_recordset($1::json) AS b(start timestamptz, "from" timestamptz, "to" timestamptz)
CROSS JOIN LATERAL (
  SELECT r.key_id, r.owner_id, r.agent, r.reason, r."limit", sum(r.count)::int8 AS count
  FROM refusal_counts r
  WHERE r.minute >= b."from" AND r.minute < b."to"${conditions.join('')}
  GROUP BY 1, 2, 3, 4, 5
) AS sums
LIMIT ${COUNT_ROWS_MAX + 1}`
  return { text, values }
}

/** A key has an owner, by whom there is an index. */
function ownerOf(scope: Scope): { owner_id?: string; key_id?: string } {
  switch (scope.kind) {
    case 'all':
      return {}
    case 'owner':
      return { owner_id: scope.ownerId }
    case 'key':
      return { owner_id: scope.ownerId, key_id: scope.keyId }
  }
}

/** Ranges of minutes with a bounded number of rows, or of a single minute, whose rows are as many as its kinds of refusals. */
function minutesOf(sql: Sql, scope: Scope, { from: first, to }: Omit<Bucket, 'start'>): Ranges<Date> {
  const owner = scope.kind === 'all' ? [] : [scope.ownerId]
  const boundary = `
SELECT minute FROM refusal_counts
WHERE minute >= $1::timestamptz AND minute < $2::timestamptz${owner.length === 0 ? '' : ' AND owner_id = $4'}
ORDER BY minute OFFSET $3 LIMIT 1`
  return {
    start: first,
    async next(from = first, rowsMax) {
      const values = [from.toISOString(), to.toISOString(), rowsMax, ...owner]
      const [row] = await sql.query<{ minute: Date }>(boundary, values)
      const end = row === undefined || row.minute > from ? row?.minute : minuteAfter(from)
      return end !== undefined && end < to ? end : undefined
    },
  }
}

function minuteAfter(minute: Date): Date {
  return new Date(minute.getTime() + 60_000)
}

/** The parts of the buckets that lie in a range. */
function within(buckets: readonly Bucket[], from: Date, to: Date): Bucket[] {
  return buckets
    .filter((bucket) => bucket.from < to && bucket.to > from)
    .map(({ start, ...bucket }) => ({
      start,
      from: bucket.from > from ? bucket.from : from,
      to: bucket.to < to ? bucket.to : to,
    }))
}
