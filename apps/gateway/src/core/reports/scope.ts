import { validate } from 'uuid'
import { KEY_OWNERS } from '#core/accounts/keys/key-owners.ts'
import { requireKnownOwner } from '#core/accounts/users/known-owner.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { validIds } from '#core/database/valid-ids.ts'
import { isAdmin, isManager, type Principal } from '#core/requests/principal.ts'

/**
 * The calls that a caller may read: all for an admin, a user's own for the user, and its own for a key without `admin`; of these,
 * only those of the end user to whom the caller is bound, if it is bound to one.
 */
export type Scope = OwnerScope & { readonly endUser?: string | undefined }

type OwnerScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'owner'; readonly ownerId: string }
  | { readonly kind: 'key'; readonly keyId: string; readonly ownerId: string }

export interface ScopeFilter {
  readonly keyId?: string | undefined
  readonly ownerId?: string | undefined
}

/**
 * The caller's scope, narrowed by the filter.
 *
 * @throws Problem `key_not_found`, `user_not_found`, both for ids that do not exist and for those of other owners
 */
export async function scopeOf(sql: Sql, caller: Principal, { keyId, ownerId }: ScopeFilter): Promise<Scope> {
  const own = ownScopeOf(caller)
  await requireKnownOwner(sql, caller, ownerId)
  const narrowed: Scope =
    ownerId === undefined || own.kind !== 'all' ? own : { ...own, kind: 'owner', ownerId }
  return keyId === undefined ? narrowed : ofKey(sql, narrowed, keyId)
}

/** What the caller may read without any filter. */
export function ownScopeOf(caller: Principal): Scope {
  const { userId: ownerId, via, endUser } = caller
  const bound = endUser !== undefined && { endUser }
  if (via.kind === 'key' && !isManager(caller)) return { kind: 'key', keyId: via.keyId, ownerId, ...bound }
  return isAdmin(caller) ? { kind: 'all', ...bound } : { kind: 'owner', ownerId, ...bound }
}

/** Columns of the tables of calls and of refusals, and the values that all rows of a scope have in them. */
export type ScopeColumns = Readonly<Partial<Record<'owner_id' | 'key_id' | 'end_user', string>>>

/** The columns by which the rows of the scope are told from all others. Refusals have no end users. */
export function columnsIn(scope: Scope): ScopeColumns {
  const columns = ownerIn(scope)
  if (scope.endUser === undefined) return columns
  // With its owner, the end user has an index.
  return { ...columns, ...(scope.kind !== 'all' && { owner_id: scope.ownerId }), end_user: scope.endUser }
}

/** Those of {@link columnsIn} that have an index together with the id. */
export function indexedIn(scope: Scope): ScopeColumns {
  // Rows without an end user are not in that index.
  if (!scope.endUser || scope.kind === 'all') return ownerIn(scope)
  return { owner_id: scope.ownerId, end_user: scope.endUser }
}

function ownerIn(scope: OwnerScope): ScopeColumns {
  switch (scope.kind) {
    case 'all':
      return {}
    case 'owner':
      return { owner_id: scope.ownerId }
    case 'key':
      return { key_id: scope.keyId }
  }
}

/** The ids, out of these, of the keys whose calls the caller may read. */
export async function keysInScope(sql: Sql, caller: Principal, keyIds: readonly string[]): Promise<string[]> {
  const scope = ownScopeOf(caller)
  const rows = await sql.query<{ id: string }>(
    `SELECT id::text FROM ${KEY_OWNERS} AS k
     WHERE id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))
       AND ($2::uuid IS NULL OR owner_id = $2::uuid) AND ($3::uuid IS NULL OR id = $3::uuid)`,
    [
      JSON.stringify(validIds(keyIds)),
      scope.kind === 'all' ? null : scope.ownerId,
      scope.kind === 'key' ? scope.keyId : null,
    ],
  )
  return rows.map(({ id }) => id)
}

async function ofKey(sql: Sql, scope: Scope, keyId: string): Promise<Scope> {
  if (!validate(keyId)) return fail('key_not_found')
  const [key] = await sql.query<{ owner_id: string }>(
    `SELECT owner_id FROM ${KEY_OWNERS} AS k WHERE id = $1::uuid`,
    [keyId],
  )
  if (key === undefined) return fail('key_not_found')
  const isVisible =
    scope.kind === 'all' || (scope.kind === 'owner' ? scope.ownerId === key.owner_id : scope.keyId === keyId)
  return isVisible ? { ...scope, kind: 'key', keyId, ownerId: key.owner_id } : fail('key_not_found')
}
