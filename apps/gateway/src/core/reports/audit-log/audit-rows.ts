import type { StoredEvent } from '#core/audit/event-hash.ts'
import type { Sql } from '#core/database/database.ts'
import { inSlices } from '#core/limits/sharing/read-in-slices.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import type { Selection } from '#core/reports/record-list.ts'
import { refuseCursor } from '#core/requests/input/pagination.ts'
import type { AuditQuery } from './audit-query.ts'

/** An event of the audit log, with its place in the list. Its states are the texts that were hashed. */
export interface AuditEvent extends Omit<StoredEvent, 'n' | 'atMicros'> {
  readonly n: number
  /** ISO 8601 with the microseconds of the database, which are part of what is hashed. */
  readonly at: string
  /** In hex. */
  readonly hash: string
  readonly cursor: string
}

export interface AuditRows {
  readonly sql: Sql
  /** Undefined on a server, where one statement reads all. */
  readonly slices: Slices | undefined
}

/**
 * The events that match. Their numbers have no gaps, so that as many numbers are as many rows; with a filter that matches few
 * events, one statement would read all of them and hold up the others of an embedded database meanwhile.
 */
export function selectEvents({ sql, slices }: AuditRows, query: AuditQuery): Selection<AuditEvent, number> {
  const { condition, values } = filterOf(query)
  const matching = `FROM audit_events WHERE n >= $1 AND n < $2 AND ${condition}`
  return {
    async *inRanges(before = END, read) {
      const [ends] = await sql.query<{ first: number | null; last: number | null }>(ENDS)
      const [least, last] = [ends?.first ?? 1, ends?.last ?? 0]
      yield* inSlices(slices, Math.min(before, last + 1), async (lt, rowsMax) => {
        const gte = Math.max(least, lt - rowsMax)
        return { result: await read({ gte, lt }), next: gte > least ? gte : undefined }
      })
    },
    async find({ gte, lt }, take) {
      const statement = `SELECT ${COLUMNS} ${matching} ORDER BY n DESC LIMIT $3`
      const rows = await sql.query<Omit<AuditEvent, 'cursor'>>(statement, [gte, lt, take, ...values])
      return rows.map(listed)
    },
    async count({ gte, lt }, countMax) {
      const statement = `SELECT count(*) AS count FROM (SELECT ${matching} LIMIT $3) AS matching`
      const [row] = await sql.query<{ count: number }>(statement, [gte, lt, countMax, ...values])
      return row?.count ?? 0
    },
  }
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
