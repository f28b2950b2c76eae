import { isObject, type JsonObject, parseJson } from '#core/base/values/json.ts'
import type { Sql } from '#core/database/database.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import { COUNT_MAX } from '#core/lists/rows-by-id.ts'
import { refuseCursor } from '#core/requests/input/pagination.ts'
import type { AuditQuery } from './audit-query.ts'

/** An event of the audit log, with its place in the list. */
export interface AuditEvent {
  readonly n: number
  /** Which form `hash` is computed of. */
  readonly format: number
  /** ISO 8601 with the microseconds of the database, which are part of what is hashed. */
  readonly at: string
  readonly operation: string
  readonly result: string
  readonly actor: string
  readonly userId: string | null
  readonly keyId: string | null
  readonly tokenId: string | null
  readonly name: string | null
  readonly address: string | null
  readonly requestId: string | null
  readonly target: string | null
  readonly targetId: string | null
  /** The texts that are hashed; {@link stateOf} reads them. */
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly count: number
  /** In hex. */
  readonly hash: string
  readonly cursor: string
}

export interface AuditRows {
  readonly sql: Sql
  /** Undefined on a server, where one statement reads all. */
  readonly slices: Slices | undefined
}

/** A state before or after a change. What is not the JSON of an object is shown as the text that it is. */
export function stateOf(text: string | null): JsonObject | null {
  if (text === null) return null
  const state = parseJson(text)
  return isObject(state) ? state : { text }
}

/** The newest events below a number. */
export async function readEvents(
  rows: AuditRows,
  query: AuditQuery,
  { before, take }: { readonly before?: number | undefined; readonly take: number },
): Promise<AuditEvent[]> {
  const { condition, values } = filterOf(query)
  const statement = `SELECT ${COLUMNS} FROM audit_events
    WHERE n >= $1 AND n < $2 AND ${condition} ORDER BY n DESC LIMIT $3`
  const found: AuditEvent[] = []
  for await (const some of eachSlice(rows, before, ({ first, end }) =>
    rows.sql.query<Omit<AuditEvent, 'cursor'>>(statement, [first, end, take - found.length, ...values]),
  )) {
    found.push(...some.map(listed))
    if (found.length >= take) break
  }
  return found
}

/** The number of events; null if there are more than `COUNT_MAX`. */
export async function countEvents(rows: AuditRows, query: AuditQuery): Promise<number | null> {
  const { condition, values } = filterOf(query)
  const statement = `SELECT count(*) AS count FROM (
    SELECT FROM audit_events WHERE n >= $1 AND n < $2 AND ${condition} LIMIT $3) AS matching`
  let counted = 0
  for await (const [row] of eachSlice(rows, undefined, ({ first, end }) =>
    rows.sql.query<{ count: number }>(statement, [first, end, COUNT_MAX + 1, ...values]),
  )) {
    counted += row?.count ?? 0
    if (counted > COUNT_MAX) return null
  }
  return counted
}

/** Events by their numbers. */
export async function findEvents(sql: Sql, ns: readonly number[]): Promise<ReadonlyMap<string, AuditEvent>> {
  const rows = await sql.query<Omit<AuditEvent, 'cursor'>>(
    `SELECT ${COLUMNS} FROM audit_events WHERE n = ANY ($1::bigint[])`,
    [ns],
  )
  return new Map(rows.map((row) => [String(row.n), listed(row)]))
}

/** The number that the cursor of an event has. */
export function numberOfCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString()
  const n = Number(text)
  // Buffer.from skips characters that are not base64url; writing the cursor again reveals that.
  return Number.isSafeInteger(n) && n > 0 && cursorOf(n) === cursor ? n : refuseCursor()
}

function cursorOf(n: number): string {
  return Buffer.from(String(n)).toString('base64url')
}

function listed(row: Omit<AuditEvent, 'cursor'>): AuditEvent {
  return { ...row, cursor: cursorOf(row.n) }
}

const COLUMNS = `n, format, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, operation, result, actor,
  user_id AS "userId", key_id AS "keyId", token_id AS "tokenId", name, address, request_id AS "requestId", target,
  target_id AS "targetId", before, after, reason, count, encode(hash, 'hex') AS hash`

/** All numbers below this one, as a number of PostgreSQL. */
const END = Number.MAX_SAFE_INTEGER

/**
 * Reads ranges of events, newest first. Their numbers have no gaps, so that as many numbers are as many rows; with a filter
 * that matches few events, one statement would read all of them and block an embedded database meanwhile.
 */
async function* eachSlice<Row>(
  { sql, slices }: AuditRows,
  before: number | undefined,
  read: (range: { readonly first: number; readonly end: number }) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  if (slices === undefined) return yield await read({ first: 0, end: before ?? END })
  const [ends] = await slices.run(() => sql.query<{ first: number | null; last: number | null }>(ENDS))
  const { first: least, last } = { first: ends?.first ?? 1, last: ends?.last ?? 0 }
  for (let end = Math.min(before ?? END, last + 1); end > least; ) {
    const first = await slices.run(async (rowsMax) => {
      const start = Math.max(least, end - rowsMax)
      return { start, rows: await read({ first: start, end }) }
    })
    yield first.rows
    end = first.start
  }
}

const ENDS = 'SELECT min(n) AS first, max(n) AS last FROM audit_events'

/** The SQL of the conditions, and their values, numbered from `$4` on. */
function filterOf({ from, to, ...query }: AuditQuery): { condition: string; values: readonly string[] } {
  const values: string[] = []
  const given = (condition: string, value: string | undefined) =>
    value === undefined ? [] : [condition.replace('?', `$${values.push(value) + 3}`)]
  const conditions = [
    ...given('user_id = ?', query.userId),
    ...given('key_id = ?', query.keyId),
    ...given('operation = ?', query.operation),
    ...given('result = ?', query.result),
    ...given('target = ?', query.target),
    ...given('target_id = ?', query.targetId),
    ...given('request_id = ?', query.requestId),
    ...given('at >= ?::timestamptz', from?.toISOString()),
    ...given('at < ?::timestamptz', to?.toISOString()),
  ]
  return { condition: conditions.join(' AND ') || 'true', values }
}
