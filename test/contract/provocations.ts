import { expect } from 'vitest'
import { inOneYear } from '../support/api.ts'
import { CHAT_PROVOCATIONS, chatRequest, completionRequest } from './chat-provocations.ts'
import { needsCredential, type Operation, readsBody } from './contract.ts'
import { only, type Provocation } from './provocation.ts'
import { inventedKey, type OperationRequest, type Stage } from './stage.ts'

/** A request for each operation that succeeds; what provokes a refusal varies it. */
export const GOOD: Readonly<Record<string, (at: Stage) => OperationRequest | Promise<OperationRequest>>> = {
  chat: (at) => chatRequest(at),
  createCompletion: (at) => completionRequest(at),
  listModels: (at) => ({ as: at.key.full_key }),
  readModel: (at) => ({ as: at.key.full_key, id: 'apps/one' }),
  listAgents: (at) => ({ as: at.token }),

  login: (at) => ({ body: loginOf(at) }),
  authLogin: (at) => ({ body: loginOf(at) }),
  logout: async (at) => ({ as: await at.api.login() }),
  authLogout: async (at) => ({ as: await at.api.login() }),

  createApiKey: (at) => ({
    as: at.token,
    body: { name: 'a key', description: '', expires_at: inOneYear(), permissions: ['chat'] },
  }),
  listApiKeys: (at) => ({ as: at.token }),
  getApiKey: (at) => ({ as: at.token, id: at.key.id }),
  updateApiKey: (at) => ({ as: at.token, id: at.key.id, body: { name: 'renamed' } }),
  revokeApiKey: async (at) => ({ as: at.token, id: (await at.api.createKey(at.token)).id }),
  deleteApiKey: async (at) => ({ as: at.token, id: (await at.api.createKey(at.token)).id }),
  resetApiKeyUsage: (at) => ({ as: at.token, id: at.key.id, body: { period: 'day' } }),
  getCurrentApiKey: (at) => ({ as: at.key.full_key }),

  readUsage: (at) => ({ as: at.token }),
  listCalls: (at) => ({ as: at.token }),

  createUser: (at) => ({ as: at.token, body: { username: at.fresh(), password: at.fresh() } }),
  listUsers: (at) => ({ as: at.token }),
  getMe: (at) => ({ as: at.token }),
  changeOwnPassword: async (at) => {
    const { username, password } = await at.api.createUser(at.token, at.fresh())
    const as = await at.api.login(username, password)
    return { as, body: { current_password: password, new_password: at.fresh() } }
  },
  getUser: (at) => ({ as: at.token, id: at.admin.id }),
  updateUser: (at) => ({ as: at.token, id: at.admin.id, body: { max_api_calls: 1_000_000 } }),
  setPassword: async (at) => {
    const { id } = await at.api.createUser(at.token, at.fresh())
    return { as: at.token, id, body: { password: at.fresh() } }
  },

  getJwks: () => ({}),
  live: () => ({}),
  ready: () => ({}),
  metrics: () => ({}),
}

/** What many operations answer alike. */
const SHARED: readonly Provocation[] = [
  {
    what: 'a good request',
    status: 200,
    of: () => true,
    request: (good) => good,
  },
  {
    what: 'a Host that is none',
    status: 400,
    reason: 'invalid_host',
    of: () => true,
    request: (good) => ({ ...good, headers: { ...good.headers, host: 'a b' } }),
  },
  {
    what: 'a body that is not JSON',
    status: 400,
    reason: 'invalid_json',
    of: readsBody,
    request: (good) => ({ ...good, body: '{' }),
  },
  {
    what: 'no credential',
    status: 401,
    reason: 'credential_missing',
    of: needsCredential,
    request: ({ as: _, ...good }) => good,
  },
  {
    what: 'a token that nobody signed',
    status: 401,
    reason: 'token_invalid',
    of: takesToken,
    request: (good) => ({ ...good, as: 'a.b.c' }),
  },
  {
    what: 'a key without the permission admin',
    status: 403,
    reason: 'permission_denied',
    of: (operation) =>
      needsCredential(operation) &&
      takesToken(operation) &&
      takesKey(operation) &&
      // What a key may always read is its own usage.
      operation.responses.has(403),
    request: (good, at) => ({ ...good, as: at.key.full_key }),
  },
  {
    what: 'an id that nobody has',
    status: 404,
    of: ({ path }) => path.includes('{id}'),
    request: (good) => ({ ...good, id: '00000000-0000-7000-8000-000000000000' }),
  },
  {
    what: 'a body over the limit',
    status: 413,
    reason: 'body_too_large',
    of: readsBody,
    request: (good) => ({ ...good, body: JSON.stringify('x'.repeat(1024 * 1024 - 1)) }),
  },
  {
    what: 'a body of another type',
    status: 415,
    reason: 'unsupported_media_type',
    of: readsBody,
    request: (good) => ({
      ...good,
      body: 'text',
      headers: { ...good.headers, 'content-type': 'text/plain' },
    }),
  },
  {
    what: 'more refused keys than an address may present',
    status: 429,
    reason: 'rate_limited',
    of: needsCredential,
    async request(good, at) {
      await at.ask('getCurrentApiKey', { as: inventedKey() })
      return { ...good, as: 'tl_mistyped' }
    },
  },
]

const OWN: readonly Provocation[] = [
  ...['readUsage', 'listCalls'].map((id) =>
    only(id, 404, 'key_not_found', 'a key that nobody has', (_good, at) => ({
      as: at.token,
      query: 'key_id=00000000-0000-7000-8000-000000000000',
    })),
  ),
  only('listAgents', 200, undefined, 'nobody in particular', () => ({})),
  only('listAgents', 429, 'rate_limited', 'one listing more than the limit', async (_good, at) => {
    const { full_key: as } = await at.api.createKey(at.token)
    for (let listings = 0; listings < at.listingsMax; listings += 1) await at.ask('listAgents', { as })
    return { as }
  }),

  ...['login', 'authLogin'].flatMap((id) => [
    only(id, 401, 'login_failed', 'a wrong password', (_good, at) => wrongLogin(at)),
    only(id, 429, 'rate_limited', 'one failure more than the limit', async (_good, at) => {
      const guess = wrongLogin(at)
      for (let failures = 0; failures < at.failedLoginsMax; failures += 1) await at.ask(id, guess)
      return guess
    }),
  ]),
  ...['logout', 'authLogout', 'createApiKey'].map((id) =>
    only(id, 401, 'access_token_required', 'an API key', (good, at) => ({ ...good, as: at.key.full_key })),
  ),
  ...['listModels', 'readModel', 'getCurrentApiKey'].map((id) =>
    only(id, 401, 'api_key_required', 'an access token', (good, at) => ({ ...good, as: at.token })),
  ),
  ...['createApiKey', 'createUser', 'listUsers', 'getUser', 'updateUser', 'setPassword'].map((id) =>
    only(id, 403, 'role_denied', 'a user of the lowest role', (good, at) => ({ ...good, as: at.userToken })),
  ),
  only('createApiKey', 409, 'too_many_keys', 'one key more than a user may have', async (good, at) => {
    const owner = await at.api.createUser(at.token, at.fresh())
    const body = { ...(good.body as object), owner_id: owner.id }
    const keys = Array.from({ length: at.activeKeysMax }, () => at.ask('createApiKey', { ...good, body }))
    expect((await Promise.all(keys)).every(({ status }) => status === 200)).toBe(true)
    return { ...good, body }
  }),
  only('createUser', 409, 'username_taken', 'a taken name in other letters', (good, at) => ({
    ...good,
    body: { username: at.admin.username.toUpperCase(), password: at.fresh() },
  })),
  only('updateUser', 409, 'last_admin', 'the only administrator', (good) => ({
    ...good,
    body: { role: 'user' },
  })),
]

export const PROVOCATIONS: readonly Provocation[] = [...SHARED, ...CHAT_PROVOCATIONS, ...OWN]

function loginOf({ admin: { username, password } }: Stage) {
  return { username, password }
}

function wrongLogin(at: Stage): OperationRequest {
  return { body: { username: at.fresh(), password: 'wrong' } }
}

function takesToken({ credentials }: Operation): boolean {
  return credentials.some((way) => way.includes('accessToken'))
}

function takesKey({ credentials }: Operation): boolean {
  return credentials.some((way) => way.includes('apiKey'))
}
