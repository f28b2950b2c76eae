import { v7 } from 'uuid'
import type { LimitReached } from '#core/base/errors/limit-names.ts'
import type { Sql } from '#core/database/database.ts'

/** What of a refusal a test says; the rest is that of a chat over REST that a rate limit refused. */
export interface RefusedInTest {
  readonly ownerId: string
  readonly keyId?: string | undefined
  readonly at?: Date
  readonly requestId?: string
  readonly agent?: string
  readonly reason?: string
  readonly limit?: string
  readonly field?: string
  readonly reached?: LimitReached
}

/** Inserts a single refusal and returns its id. */
export async function insertRefusal(sql: Sql, refused: RefusedInTest): Promise<string> {
  const { ownerId, keyId, field, reached, ...words } = refused
  const { requestId = 'request-1', agent = '', reason = 'rate_limited', limit = 'chat' } = words
  // Without a time, ids are in the order in which they are made, also within a millisecond.
  const id = refused.at === undefined ? v7() : v7({ msecs: refused.at.getTime() })
  const at = refused.at ?? new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  await sql.query(
    `INSERT INTO refusals (id, request_id, at, key_id, owner_id, face, route, agent, reason, status, "limit",
       field, limit_points, limit_window_seconds, limit_of)
     VALUES ($1, $2, $3, $4, $5, 'rest', '/api/v1/chat', $6, $7, 429, $8, $9, $10, $11, $12)`,
    [
      ...[id, requestId, at.toISOString(), keyId ?? null, ownerId, agent, reason, limit, field ?? null],
      ...[reached?.points ?? null, reached?.windowSeconds ?? null, reached?.of ?? null],
    ],
  )
  return id
}

/** Counts refusals in a minute; without an owner, those of unknown credentials. */
export async function countRefusals(
  sql: Sql,
  count: number,
  refused: Omit<RefusedInTest, 'ownerId' | 'requestId' | 'field'> & { readonly ownerId?: string },
): Promise<void> {
  const { ownerId = '', keyId = '', at = new Date() } = refused
  const { agent = '', reason = 'rate_limited', limit = 'chat' } = refused
  await sql.query(
    `INSERT INTO refusal_counts (minute, key_id, owner_id, agent, reason, "limit", count)
     VALUES (date_trunc('minute', $1::timestamptz), $2, $3, $4, $5, $6, $7)`,
    [at.toISOString(), keyId, ownerId, agent, reason, limit, count],
  )
}
