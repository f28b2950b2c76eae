import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RecordLink } from '../../lists/record-link.tsx'
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
        <RecordLink kind="user" id={userId} name={user?.username} />
      )}
      {keyId !== null && (
        <span className={second}>
          <RecordLink kind="key" id={keyId} name={key?.name} />
        </span>
      )}
      {keyId === null && (userId !== null || name !== null) && (
        <span className={second}>{words.actor(actor)}</span>
      )}
    </>
  )
}
