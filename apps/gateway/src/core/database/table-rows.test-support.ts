import type { PrismaClient } from '#generated/prisma/client.ts'
import type { Sql } from './database.ts'

/**
 * Reads rows of a table whose model the Prisma client does not have, since the gateway reads it by statements of its own. Each
 * column has its name in camel case.
 *
 * @param where - columns and the values that they must have
 * @param order - the column by which the rows are ordered
 */
export async function rowsOf<Row = Readonly<Record<string, unknown>>>(
  sql: Sql,
  table: string,
  where: Readonly<Record<string, unknown>> = {},
  order = '1',
): Promise<Row[]> {
  const conditions = Object.keys(where).map((column, index) => `${column} = $${index + 1}`)
  const text = `SELECT * FROM ${table} WHERE ${['true', ...conditions].join(' AND ')} ORDER BY ${order}`
  const rows = await sql.query<Record<string, unknown>>(text, Object.values(where))
  return rows.map((row) => {
    const named = Object.entries(row).map(([column, value]) => [inCamelCase(column), value])
    return Object.fromEntries(named) as Row
  })
}

function inCamelCase(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** An event of the audit log as its table has it. */
export interface AuditEventRow {
  readonly n: number
  readonly operation: string
  readonly result: string
  readonly actor: string
  readonly name: string | null
  readonly tokenId: string | null
  readonly address: string | null
  readonly target: string | null
  readonly targetId: string | null
  readonly before: string | null
  readonly after: string | null
  readonly count: number
}

/** The events of the audit log in their order. */
export function auditEventsOf(sql: Sql, where?: Readonly<Record<string, unknown>>): Promise<AuditEventRow[]> {
  return rowsOf<AuditEventRow>(sql, 'audit_events', where, 'n')
}

/** Adds calls to the rollups of a key or, for the subject '', of all, as settlements do. */
export async function addToRollups(
  prisma: PrismaClient,
  { span, subject, bucket, agent, calls, totalTokens }: RollupOfCalls,
): Promise<void> {
  await prisma.$executeRawUnsafe(
    `INSERT INTO rollups (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome, calls, token_calls,
       prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
     VALUES ($1::rollup_span, $2::rollup_grain, $3, $4::timestamptz, '', 'chat', $5, '', '', 'done', $6, $6, 0, 0, $7, '{}', '{}')
     ON CONFLICT (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome)
     DO UPDATE SET calls = rollups.calls + EXCLUDED.calls, total_tokens = rollups.total_tokens + EXCLUDED.total_tokens`,
    ...[span, subject === '' ? 'all' : 'key', subject, bucket, agent, calls, totalTokens],
  )
}

export interface RollupOfCalls {
  readonly span: 'hour' | 'day'
  readonly subject: string
  readonly bucket: Date
  readonly agent: string
  readonly calls: number
  readonly totalTokens: number
}

/** Adds a run of the deployment `main` of Dify that waits. */
export async function addPause(
  sql: Sql,
  { id, ownerId, conversation, sealed = false, content = '{"pauses":[]}', expiresAt }: PauseRow,
): Promise<void> {
  await sql.query(
    `INSERT INTO pauses (id, owner_id, end_user, agent, app, conversation, deployment, state, sealed, content, expires_at, created_at)
     VALUES ($1::uuid, $2::uuid, '', 'dify', '', $3, 'main', 'main', $4, $5, $6, now())`,
    [id, ownerId, conversation, sealed, content, expiresAt ?? null],
  )
}

export interface PauseRow {
  readonly id: string
  readonly ownerId: string
  readonly conversation: string
  readonly sealed?: boolean
  readonly content?: string
  readonly expiresAt?: Date
}
