import { validate } from 'uuid'
import { fail } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { isAdmin, type Principal } from '#core/requests/principal.ts'

/**
 * Rejects the owner that a filter names unless the caller may read what belongs to it, because a mistyped id would otherwise
 * return an empty list. All but administrators get the same answer for a user that exists and for one that does not.
 *
 * @throws Problem `user_not_found`
 */
export async function requireKnownOwner(
  sql: Sql,
  caller: Principal,
  ownerId: string | undefined,
): Promise<void> {
  if (ownerId === undefined || ownerId === caller.userId) return
  if (!isAdmin(caller) || !validate(ownerId)) return fail('user_not_found')
  const rows = await sql.query('SELECT FROM users WHERE id = $1::uuid', [ownerId])
  if (rows.length === 0) return fail('user_not_found')
}
