import type { KeyFieldsFragment } from '../../../generated/graphql.ts'

type Stated = Pick<KeyFieldsFragment, 'isActive' | 'revokedAt'> & {
  readonly owner?: Pick<NonNullable<KeyFieldsFragment['owner']>, 'status'> | null
}

export type KeyState = 'active' | 'expired' | 'revoked' | 'suspended'

/** Whether a key is accepted, and why not. */
export function keyState({ isActive, revokedAt, owner }: Stated): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (!isActive) return 'expired'
  return owner?.status === 'SUSPENDED' ? 'suspended' : 'active'
}

/** Only the creator of a key and administrators may change it; its owner may only revoke it. */
export function mayChange(
  key: Pick<KeyFieldsFragment, 'createdById'>,
  { role, userId }: { readonly role: string; readonly userId: string },
): boolean {
  return role === 'admin' || key.createdById === userId
}

/** The owner of a key may revoke it as well, also where another user made it. */
export function mayRevoke(
  key: Pick<KeyFieldsFragment, 'createdById' | 'ownerId'>,
  session: { readonly role: string; readonly userId: string },
): boolean {
  return mayChange(key, session) || key.ownerId === session.userId
}
