import { Link } from '@tanstack/react-router'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { useWords } from './words.ts'

/** Who did it, with the ways to the user and the key. */
export function Actor({ event }: { readonly event: AuditFieldsFragment }) {
  const words = useWords()
  const { actor, userId, user, keyId, key, name } = event
  return (
    <>
      {userId === null ? (
        (name ?? words.actor(actor))
      ) : (
        <Link to="/users/$id" params={{ id: userId }}>
          {user?.username ?? userId}
        </Link>
      )}
      {keyId !== null && (
        <span className={second}>
          <Link to="/keys/$id" params={{ id: keyId }}>
            {key?.name ?? keyId}
          </Link>
        </span>
      )}
      {keyId === null && (userId !== null || name !== null) && (
        <span className={second}>{words.actor(actor)}</span>
      )}
    </>
  )
}
