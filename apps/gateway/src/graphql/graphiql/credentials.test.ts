import { expect, test } from 'vitest'
import {
  ADMINS,
  EVERYBODY,
  KEYS,
  MANAGERS,
  TOKENS,
  UPLOAD_READERS,
} from '#test/authorization/rows.test-support.ts'
import { MATRIX } from '#test/graphql/matrix.test-support.ts'
import { schema } from '../schema.ts'
import { credentialIn, keyFieldsOf, rootFieldsOf } from './credentials.ts'

type Cells = Readonly<Record<string, string>>

const missing = { anonymous: 'credential_missing' }

/** What the sentences of descriptions promise, as results for each kind of caller. */
const MEANINGS: Readonly<Record<string, Cells>> = {
  'Needs no credential.': EVERYBODY,
  'Takes an access token or any API key, or no credential where the configuration makes the list public.':
    EVERYBODY,
  'Takes an access token or any API key.': { ...EVERYBODY, ...missing },
  'Takes an access token, or an API key with the permission `ADMIN`.': { ...MANAGERS, ...missing },
  'Takes an access token, or an API key with the permission `CHAT` or `ADMIN`.': {
    ...EVERYBODY,
    'upload key': 'permission_denied',
    ...missing,
  },
  'Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.': {
    ...ADMINS,
    ...missing,
  },
  'Takes an access token, or an API key with the permission `UPLOAD` or `ADMIN`.': {
    ...UPLOAD_READERS,
    ...missing,
  },
  'Takes an access token of an administrator or a premium user; API keys cannot create API keys.': {
    ...TOKENS,
    user: 'role_denied',
    neighbour: 'role_denied',
    ...missing,
  },
  'Takes an access token of an administrator, or of a premium user who owns the key; API keys cannot make secrets.':
    { ...TOKENS, user: 'role_denied', ...missing },
  'Takes an access token.': { ...TOKENS, ...missing },
  'Takes any API key, and no access token.': { ...KEYS, ...missing },
  'Takes an API key, which must be the one that made the call.': { ...KEYS, ...missing },
  'Takes an API key with the permission `CHAT`.': { ...KEYS, 'upload key': 'permission_denied', ...missing },
}

/** In the matrix these callers own the key, and an administrator has created it. */
const OWNERS = ['user', 'admin key of a user']

/** The callers who are refused for their credential, and not for what they ask. */
const refusedIn = (cells: Cells) =>
  Object.keys(cells).filter((caller) =>
    /^(?:credential_missing|permission_denied|role_denied|access_token_required|api_key_required)$/.test(
      cells[caller] ?? '',
    ),
  )

const OPERATIONS = Object.keys(MATRIX).filter((name) => /^(?:Query|Mutation|Subscription)\./.test(name))

test.each(OPERATIONS)('%s takes the credential that its description names', (name) => {
  const { description } = rootFieldsOf(schema).find((field) => name.endsWith(`.${field.name}`)) ?? {}
  const words = credentialIn(description ?? '') ?? ''
  const meaning = MEANINGS[words]
  expect(meaning, words).toBeDefined()
  const isForCreators = description?.includes('Only for its creator and administrators.')
  const expected = [...refusedIn(meaning ?? {}), ...(isForCreators ? OWNERS : [])]
  expect(refusedIn(MATRIX[name]?.cells ?? {}).sort()).toEqual(expected.sort())
})

test('the description of every operation says which credential it takes', () => {
  const silent = rootFieldsOf(schema).filter(
    ({ description }) => credentialIn(description ?? '') === undefined,
  )
  expect(silent.map(({ name }) => name)).toEqual([])
  expect(keyFieldsOf(schema)).toContain('chat')
  expect(keyFieldsOf(schema)).not.toContain('createApiKey')
})
