import { useState } from 'react'
import { useMutation, useQuery } from 'urql'
import { ApiKeys, CreateApiKey, RevokeApiKey } from '../documents.ts'
import { fieldsOf } from '../form.ts'
import { newKey } from '../new-key.ts'

// An empty list has no `ApiKey` from which the cache could learn that a new key belongs in it. The object is made once: one made
// at every render would be another query each time.
const LISTS_KEYS = { additionalTypenames: ['ApiKey'] }

export function Keys({ onCreate }: { onCreate(fullKey: string): void }) {
  // The cursors of the pages up to the one that is shown; the first page has none.
  const [cursors, setCursors] = useState<readonly string[]>([])
  const [{ data, error }] = useQuery({
    query: ApiKeys,
    variables: { after: cursors.at(-1) ?? null },
    context: LISTS_KEYS,
  })
  // After a mutation the cache reads again the queries that have a type of its reply, here `ApiKey`.
  const [created, create] = useMutation(CreateApiKey)
  const [revoked, revoke] = useMutation(RevokeApiKey)

  const failure = error ?? created.error ?? revoked.error
  const keys = data?.apiKeys
  const next = keys?.pageInfo.hasNextPage === true ? keys.pageInfo.endCursor : null
  return (
    <section>
      <h2>API keys ({keys?.totalCount ?? '…'})</h2>
      <form
        onSubmit={async (event) => {
          const name = fieldsOf(event)('name')
          const { data } = await create({ input: newKey(name) })
          if (data?.createApiKey == null) return
          setCursors([])
          onCreate(data.createApiKey.fullKey)
        }}
      >
        <label>
          Name <input name="name" required />
        </label>
        <button type="submit" disabled={created.fetching}>
          Create
        </button>
      </form>
      {created.data?.createApiKey != null && (
        <p role="status">
          Copy this key now, it is shown only once: <code>{created.data.createApiKey.fullKey}</code>
        </p>
      )}
      {failure !== undefined && <p role="alert">{failure.message}</p>}
      <ul>
        {keys?.nodes.map(({ id, name, keyPrefix, isActive }) => (
          <li key={id}>
            {name} <code>{keyPrefix}</code> {isActive ? 'active' : 'not active'}
            {isActive && (
              <button type="button" onClick={() => revoke({ input: { keyId: id } })}>
                Revoke {name}
              </button>
            )}
          </li>
        ))}
      </ul>
      <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
        Previous keys
      </button>
      <button
        type="button"
        disabled={next === null}
        onClick={() => next !== null && setCursors([...cursors, next])}
      >
        Next keys
      </button>
    </section>
  )
}
