import type { KeyFieldsFragment } from '../../../generated/graphql.ts'

type Stated = Pick<KeyFieldsFragment, 'state'> & {
  readonly owner?: Pick<NonNullable<KeyFieldsFragment['owner']>, 'status'> | null
}

/** The states of keys, and that of a key whose owner is suspended. */
export type KeyState = Lowercase<Stated['state']> | 'suspended'

/** Whether a key is accepted, and why not. */
export function keyState({ state, owner }: Stated): KeyState {
  const isOver = state === 'REVOKED' || state === 'EXPIRED'
  return !isOver && owner?.status === 'SUSPENDED'
    ? 'suspended'
    : (state.toLowerCase() as Lowercase<typeof state>)
}

interface Session {
  readonly role: string
  readonly userId: string
}

/** Only the creator of a key and administrators may change it; its owner may only revoke it. */
export function mayChange(key: Pick<KeyFieldsFragment, 'createdById'>, { role, userId }: Session): boolean {
  return role === 'admin' || key.createdById === userId
}

/** The owner of a key may revoke it as well, also where another user made it. */
export function mayRevoke(
  key: Pick<KeyFieldsFragment, 'createdById' | 'ownerId'>,
  session: Session,
): boolean {
  return mayChange(key, session) || key.ownerId === session.userId
}

/** A new secret is for those who may make such a key. */
export function mayRotate(
  { ownerId, permissions }: Pick<KeyFieldsFragment, 'ownerId' | 'permissions'>,
  { role, userId }: Session,
): boolean {
  return role === 'admin' || (role === 'premium' && ownerId === userId && !permissions.includes('ADMIN'))
}
