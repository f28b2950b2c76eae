import { expect } from 'vitest'
import { inOneYear } from '../api.ts'
import { tooLargeFor } from './bad-input.ts'
import { CHAT_PROVOCATIONS, chatRequest, completionRequest, responseRequest } from './chat-provocations.ts'
import { hasParameters, needsCredential, OPERATIONS, type Operation, readsJson } from './contract.ts'
import { type ContractGateway, inventedKey, type OperationRequest } from './contract-gateway.ts'
import {
  CONVERSATION_PROVOCATIONS,
  conversationRequest,
  FOR_CHAT_KEYS,
  ratedCallRequest,
} from './conversation-provocations.ts'
import { KEPT_CALL_PROVOCATIONS, keptCallRequest } from './kept-call-provocations.ts'
import { only, type Provocation } from './provocation.ts'
import { fileRequest, UPLOAD_PROVOCATIONS, uploadedFile, uploadRequest } from './upload-provocations.ts'

/** For each operation a request that succeeds. Provocations of refusals vary it. */
export const GOOD: Readonly<
  Record<string, (gateway: ContractGateway) => OperationRequest | Promise<OperationRequest>>
> = {
  chat: (gateway) => chatRequest(gateway),
  createCompletion: (gateway) => completionRequest(gateway),
  createResponse: (gateway) => responseRequest(gateway),
  listModels: (gateway) => ({ as: gateway.key.full_key }),
  readModel: (gateway) => ({ as: gateway.key.full_key, id: 'apps/one' }),
  listAgents: (gateway) => ({ as: gateway.token }),
  listAgentDeployments: (gateway) => ({ as: gateway.token, id: 'apps' }),

  resumeCall: (gateway) => keptCallRequest(gateway, { stream: true }),
  readReply: (gateway) => keptCallRequest(gateway),
  stopCall: (gateway) => keptCallRequest(gateway),
  deleteReply: (gateway) => keptCallRequest(gateway),

  listConversations: (gateway) => ({ as: gateway.token }),
  getConversation: (gateway) => conversationRequest(gateway),
  listMessages: (gateway) => conversationRequest(gateway),
  renameConversation: async (gateway) => ({
    ...(await conversationRequest(gateway)),
    body: { name: 'Holiday plans' },
  }),
  deleteConversation: (gateway) => conversationRequest(gateway),
  rateCall: (gateway) => ratedCallRequest(gateway),
  eraseEndUser: (gateway) => ({
    as: gateway.token,
    body: { end_user: gateway.fresh(), owner_id: gateway.admin.id },
  }),

  login: (gateway) => ({ body: loginOf(gateway) }),
  authLogin: (gateway) => ({ body: loginOf(gateway) }),
  logout: async (gateway) => ({ as: await gateway.api.login() }),
  authLogout: async (gateway) => ({ as: await gateway.api.login() }),

  createApiKey: (gateway) => ({
    as: gateway.token,
    body: { name: 'a key', description: '', expires_at: inOneYear(), permissions: ['chat'] },
  }),
  listApiKeys: (gateway) => ({ as: gateway.token }),
  getApiKey: (gateway) => ({ as: gateway.token, id: gateway.key.id }),
  updateApiKey: (gateway) => ({ as: gateway.token, id: gateway.key.id, body: { name: 'renamed' } }),
  revokeApiKey: async (gateway) => ({
    as: gateway.token,
    id: (await gateway.api.createKey(gateway.token)).id,
  }),
  deleteApiKey: async (gateway) => ({
    as: gateway.token,
    id: (await gateway.api.createKey(gateway.token)).id,
  }),
  rotateApiKey: async (gateway) => ({
    as: gateway.token,
    id: (await gateway.api.createKey(gateway.token)).id,
    body: { overlap_seconds: 60 },
  }),
  endPreviousSecret: (gateway) => ({ as: gateway.token, id: gateway.key.id }),
  resetApiKeyUsage: (gateway) => ({ as: gateway.token, id: gateway.key.id, body: { period: 'day' } }),
  getCurrentApiKey: (gateway) => ({ as: gateway.key.full_key }),

  readUsage: (gateway) => ({ as: gateway.token }),
  listCalls: (gateway) => ({ as: gateway.token }),
  getCall: async (gateway) => ({ ...(await ratedCallRequest(gateway)), body: undefined }),

  listRefusals: (gateway) => ({ as: gateway.token }),
  countRefusals: (gateway) => ({ as: gateway.token }),
  listAuditEvents: (gateway) => ({ as: gateway.token }),
  listProcesses: (gateway) => ({ as: gateway.token }),
  async reloadConfiguration(gateway) {
    await gateway.writeConfiguration()
    return { as: gateway.token }
  },

  createUser: (gateway) => ({
    as: gateway.token,
    body: { username: gateway.fresh(), password: gateway.fresh() },
  }),
  listUsers: (gateway) => ({ as: gateway.token }),
  getMe: (gateway) => ({ as: gateway.token }),
  changeOwnPassword: async (gateway) => {
    const { username, password } = await gateway.api.createUser(gateway.token, gateway.fresh())
    const as = await gateway.api.login(username, password)
    return { as, body: { current_password: password, new_password: gateway.fresh() } }
  },
  getUser: (gateway) => ({ as: gateway.token, id: gateway.admin.id }),
  updateUser: (gateway) => ({ as: gateway.token, id: gateway.admin.id, body: { max_api_calls: 1_000_000 } }),
  setPassword: async (gateway) => {
    const { id } = await gateway.api.createUser(gateway.token, gateway.fresh())
    return { as: gateway.token, id, body: { password: gateway.fresh() } }
  },

  upload: (gateway) => uploadRequest(gateway),
  listUploads: (gateway) => ({ as: gateway.uploadKey }),
  getUpload: async (gateway) => ({ as: gateway.uploadKey, id: (await uploadedFile(gateway)).id }),
  deleteUpload: async (gateway) => ({ as: gateway.uploadKey, id: (await uploadedFile(gateway)).id }),
  getFile: (gateway) => fileRequest(gateway),

  getJwks: () => ({}),
  live: () => ({}),
  ready: () => ({}),
  metrics: () => ({}),
}

/** Provocations that apply to many operations. */
const SHARED: readonly Provocation[] = [
  {
    what: 'a good request',
    status: 200,
    of: () => true,
    request: (good) => good,
  },
  {
    what: 'a paused key',
    status: 403,
    reason: 'key_paused',
    of: (operation) => needsCredential(operation) || operation.id === 'listAgents',
    async request(good, gateway) {
      const { id, full_key: as } = await gateway.api.createKey(gateway.token)
      await gateway.send('updateApiKey', { as: gateway.token, id, body: { is_active: false } })
      return { ...good, as }
    },
  },
  {
    what: 'an invalid Host',
    status: 400,
    reason: 'invalid_host',
    of: () => true,
    request: (good) => ({ ...good, headers: { ...good.headers, host: 'a b' } }),
  },
  {
    what: 'a body that is not JSON',
    status: 400,
    reason: 'invalid_json',
    of: readsJson,
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
    what: 'a token with an invalid signature',
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
      !FOR_CHAT_KEYS.has(operation.id) &&
      // Every key may read its own usage.
      operation.responses.get(403)?.reasons.includes('permission_denied') === true,
    request: (good, gateway) => ({ ...good, as: gateway.key.full_key }),
  },
  ...[
    'key_not_found',
    'user_not_found',
    'upload_not_found',
    'model_not_found',
    'object_not_found',
    'call_not_found',
    'conversation_not_found',
  ].map((reason) => ({
    what: 'an unknown id',
    status: 404,
    reason,
    // A file has two parameters and provocations of its own.
    of: (operation: Operation) =>
      hasParameters(operation) &&
      operation.id !== 'getFile' &&
      (reason !== 'conversation_not_found' || FOR_CHAT_KEYS.has(operation.id)) &&
      operation.responses.get(404)?.reasons.includes(reason) === true,
    request: (good: OperationRequest) => ({ ...good, id: '00000000-0000-7000-8000-000000000000' }),
  })),
  {
    what: 'a body that is nested too deep',
    status: 400,
    reason: 'invalid_request',
    of: readsJson,
    request: (good) => ({ ...good, body: '['.repeat(100) + ']'.repeat(100) }),
  },
  {
    what: 'a parameter that does not exist',
    status: 400,
    reason: 'invalid_request',
    of: (operation) =>
      operation.method === 'GET' &&
      operation.responses.get(400)?.reasons.includes('invalid_request') === true,
    request: (good) => ({ ...good, query: 'colour=blue' }),
  },
  {
    what: 'a body of an unsupported media type',
    status: 415,
    reason: 'unsupported_media_type',
    of: ({ responses }) => responses.has(415),
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
    async request(good, gateway) {
      await gateway.send('getCurrentApiKey', { as: inventedKey() })
      return { ...good, as: 'tl_mistyped' }
    },
  },
]

const OWN: readonly Provocation[] = [
  ...OPERATIONS.filter(readsJson).map(({ id }) =>
    only(id, 413, 'body_too_large', 'a body over the limit', (good) => ({ ...good, body: tooLargeFor(id) })),
  ),
  ...['readUsage', 'listCalls', 'listRefusals', 'countRefusals'].map((id) =>
    only(id, 404, 'key_not_found', 'an unknown key', (_good, gateway) => ({
      as: gateway.token,
      query: 'key_id=00000000-0000-7000-8000-000000000000',
    })),
  ),
  ...['readUsage', 'listCalls', 'listRefusals', 'countRefusals', 'listConversations', 'listApiKeys'].map(
    (id) =>
      only(id, 404, 'user_not_found', 'an unknown owner', (_good, gateway) => ({
        as: gateway.token,
        query: 'owner_id=00000000-0000-7000-8000-000000000000',
      })),
  ),
  ...['updateApiKey', 'resetApiKeyUsage'].map((id) =>
    only(id, 403, 'role_denied', 'an owner who did not create the key', async (good, gateway) => {
      const { body } = await gateway.api.call('GET', '/api/v1/users/me', { token: gateway.userToken })
      const key = await gateway.api.createKey(gateway.token, { owner_id: body.data.id })
      return { ...good, as: gateway.userToken, id: key.id }
    }),
  ),
  only('listAgents', 200, undefined, 'an anonymous caller', () => ({})),
  only('listAgents', 429, 'rate_limited', 'one listing more than the limit', async (_good, gateway) => {
    const { full_key: as } = await gateway.api.createKey(gateway.token)
    for (let listings = 0; listings < gateway.listingsMax; listings += 1)
      await gateway.send('listAgents', { as })
    return { as }
  }),

  ...['login', 'authLogin'].flatMap((id) => [
    only(id, 401, 'login_failed', 'a wrong password', (_good, gateway) => wrongLogin(gateway)),
    only(id, 429, 'rate_limited', 'one failure more than the limit', async (_good, gateway) => {
      const guess = wrongLogin(gateway)
      for (let failures = 0; failures < gateway.failedLoginsMax; failures += 1) await gateway.send(id, guess)
      return guess
    }),
  ]),
  only('updateApiKey', 409, 'key_ended', 'a pause of a revoked key', async (_good, gateway) => ({
    as: gateway.token,
    id: await revokedKey(gateway),
    body: { is_active: false },
  })),
  only('rotateApiKey', 409, 'key_ended', 'a revoked key', async (good, gateway) => ({
    ...good,
    id: await revokedKey(gateway),
  })),
  only('rotateApiKey', 409, 'rotation_pending', 'a key with two used secrets', async (good, gateway) => {
    const { body } = await gateway.send('rotateApiKey', good)
    const { full_key: as } = (body as { data: { full_key: string } }).data
    await gateway.send('getCurrentApiKey', { as })
    return good
  }),
  ...['logout', 'authLogout', 'createApiKey', 'rotateApiKey'].map((id) =>
    only(id, 401, 'access_token_required', 'an API key', (good, gateway) => ({
      ...good,
      as: gateway.key.full_key,
    })),
  ),
  ...['listModels', 'readModel', 'getCurrentApiKey'].map((id) =>
    only(id, 401, 'api_key_required', 'an access token', (good, gateway) => ({ ...good, as: gateway.token })),
  ),
  ...[
    ...['createApiKey', 'rotateApiKey', 'createUser', 'listUsers', 'getUser', 'updateUser', 'setPassword'],
    ...['listAgentDeployments', 'listAuditEvents', 'listProcesses', 'reloadConfiguration'],
  ].map((id) =>
    only(id, 403, 'role_denied', 'a user of the lowest role', (good, gateway) => ({
      ...good,
      as: gateway.userToken,
    })),
  ),
  only('createApiKey', 409, 'too_many_keys', 'one key more than a user may have', async (good, gateway) => {
    const owner = await gateway.api.createUser(gateway.token, gateway.fresh())
    const body = { ...(good.body as object), owner_id: owner.id }
    for (let keys = 0; keys < gateway.activeKeysMax; keys += 1) {
      const { status, text } = await gateway.send('createApiKey', { ...good, body })
      expect(status, text).toBe(200)
    }
    return { ...good, body }
  }),
  {
    ...only(
      'updateApiKey',
      409,
      'too_many_keys',
      'the expiry of one key too many',
      async (_good, gateway) => {
        const { id: owner_id } = await gateway.api.createUser(gateway.token, gateway.fresh())
        const { id } = await gateway.api.createKey(gateway.token, { owner_id })
        await gateway.query('UPDATE api_keys SET expires_at = now() WHERE id = $1::uuid', [id])
        for (let keys = 0; keys < gateway.activeKeysMax; keys += 1)
          await gateway.api.createKey(gateway.token, { owner_id })
        return { as: gateway.token, id, body: { expires_at: inOneYear() } }
      },
    ),
    needsServer: true,
  },
  only(
    'createApiKey',
    429,
    'too_many_new_keys',
    'one key more than a user may get on one day',
    async (good, gateway) => {
      const owner = await gateway.api.createUser(gateway.token, gateway.fresh())
      const body = { ...(good.body as object), owner_id: owner.id }
      for (let keys = 0; keys < gateway.keysADayMax; keys += 1) {
        const made = await gateway.send('createApiKey', { ...good, body })
        expect(made.status, made.text).toBe(200)
        const { id } = (made.body as { data: { id: string } }).data
        expect((await gateway.send('revokeApiKey', { as: good.as, id })).status).toBe(200)
      }
      return { ...good, body }
    },
  ),
  only('createUser', 409, 'username_taken', 'a taken name in different case', (good, gateway) => ({
    ...good,
    body: { username: gateway.admin.username.toUpperCase(), password: gateway.fresh() },
  })),
  only(
    'reloadConfiguration',
    422,
    'configuration_invalid',
    'a mistake in the file',
    async (good, gateway) => {
      await gateway.writeConfiguration('agents: [')
      return good
    },
  ),
  only('updateUser', 409, 'last_admin', 'the only administrator', (good) => ({
    ...good,
    body: { role: 'user' },
  })),
]

export const PROVOCATIONS: readonly Provocation[] = [
  ...SHARED,
  ...CHAT_PROVOCATIONS,
  ...KEPT_CALL_PROVOCATIONS,
  ...CONVERSATION_PROVOCATIONS,
  ...UPLOAD_PROVOCATIONS,
  ...OWN,
]

function loginOf({ admin: { username, password } }: ContractGateway) {
  return { username, password }
}

function wrongLogin(gateway: ContractGateway): OperationRequest {
  return { body: { username: gateway.fresh(), password: 'wrong' } }
}

function takesToken({ credentials }: Operation): boolean {
  return credentials.some((way) => way.includes('accessToken'))
}

function takesKey({ credentials }: Operation): boolean {
  return credentials.some((way) => way.includes('apiKey'))
}

async function revokedKey(gateway: ContractGateway): Promise<string> {
  const { id } = await gateway.api.createKey(gateway.token)
  await gateway.send('revokeApiKey', { as: gateway.token, id })
  return id
}
