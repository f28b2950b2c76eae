import { useMutation, useQuery } from '@apollo/client/react'
import { useState } from 'react'
import { ApiKeys, CreateApiKey, RevokeApiKey } from '../documents.ts'
import { fieldsOf } from '../form.ts'
import { newKey } from '../new-key.ts'

export function Keys({ onCreate }: { onCreate(fullKey: string): void }) {
  // The cursors of the pages up to the one that is shown; the first page has none.
  const [cursors, setCursors] = useState<readonly string[]>([])
  const { data, previousData, error } = useQuery(ApiKeys, { variables: { after: cursors.at(-1) ?? null } })
  const [create, created] = useMutation(CreateApiKey, {
    // A new key moves every page by one, so all of them leave the cache, and the one that is shown is read again.
    update: (cache) => void cache.evict({ id: 'ROOT_QUERY', fieldName: 'apiKeys' }),
    onCompleted(data) {
      setCursors([])
      if (data.createApiKey !== null) onCreate(data.createApiKey.fullKey)
    },
  })
  // The reply has the key's id and what has changed, so the cache changes the row by itself.
  const [revoke, revoked] = useMutation(RevokeApiKey)

  const failure = error ?? created.error ?? revoked.error
  const keys = (data ?? previousData)?.apiKeys
  const next = keys?.pageInfo.hasNextPage === true ? keys.pageInfo.endCursor : null
  return (
    <section>
      <h2>API keys ({keys?.totalCount ?? '…'})</h2>
      <form
        onSubmit={(event) => {
          const name = fieldsOf(event)('name')
          create({ variables: { input: newKey(name) } })
        }}
      >
        <label>
          Name <input name="name" required />
        </label>
        <button type="submit" disabled={created.loading}>
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
              <button type="button" onClick={() => revoke({ variables: { input: { keyId: id } } })}>
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
