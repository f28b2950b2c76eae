import type { FastifyInstance } from 'fastify'
import type { GivenKey } from '#core/accounts/keys/key-input.ts'
import { quotaOf } from '#core/accounts/users/user.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import {
  callerOf,
  KEY_PROBLEMS,
  keyOnly,
  MANAGER_PROBLEMS,
  managerOnly,
  TOKEN_PROBLEMS,
  tokenOnly,
} from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, problems, ref, success } from '#http/response/schemas.ts'
import { API_KEY, API_KEYS, CREATED_API_KEY, CURRENT_API_KEY } from '#resources/api-key.ts'
import { CREATE_API_KEY, RESET_USAGE, ROTATE_API_KEY, UPDATE_API_KEY } from '#resources/api-key-inputs.ts'
import { orderedListRoute } from './list-route.ts'
import { recordRoutes } from './resources/record-route.ts'

export function apiKeyRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'keys' | 'authentication' | 'reads'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const { keys } = services
  const bounds = smallRead(services)
  const viewOf = () => ({ now: now() })
  const parts = {
    of: API_KEY,
    tag: 'api-keys',
    onRequest: managerOnly(services),
    guardReasons: MANAGER_PROBLEMS,
    bounds,
    viewOf,
  }
  for (const { schema } of [API_KEY, CREATED_API_KEY, CURRENT_API_KEY]) app.addSchema(schema)
  const serve = recordRoutes(app, parts)
  const serveSecret = recordRoutes(app, {
    of: CREATED_API_KEY,
    tag: 'api-keys',
    onRequest: tokenOnly(services),
    guardReasons: TOKEN_PROBLEMS,
    isTokenOnly: true,
    viewOf,
  })
  const check = (caller: Principal, given: GivenKey) => keys.check(caller, given)

  serveSecret('POST', '/api/v1/api-keys', {
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'Creates an API key and returns it. This response is the only one that contains the whole key. The caller must be an administrator or a premium user and must send an access token; an API key is refused.',
    input: CREATE_API_KEY,
    check,
    reasons: ['role_denied', 'too_many_keys', 'too_many_new_keys'],
    call: async ({ caller, given, onLimit }) => withSecret(await keys.create(caller, given, onLimit)),
  })

  orderedListRoute(app, API_KEYS, {
    ...parts,
    list: keys,
    reasons: ['invalid_request', ...MANAGER_PROBLEMS, 'user_not_found'],
  })

  serve('GET', '/api/v1/api-keys/:id', {
    operationId: 'getApiKey',
    summary: 'Read an API key',
    description:
      'Returns the record of a key that the caller created or owns. Administrators may read any key.',
    reasons: ['key_not_found'],
    call: ({ caller, id }) => keys.find(caller, id),
  })

  serve('PATCH', '/api/v1/api-keys/:id', {
    operationId: 'updateApiKey',
    summary: 'Change an API key',
    description:
      'Changes the name, the description, the expiry, the allowed agents and addresses or the limits of a key, pauses it or lifts its pause. Only its creator and administrators may do so.',
    input: UPDATE_API_KEY,
    check,
    reasons: ['role_denied', 'key_not_found', 'too_many_keys', 'key_ended'],
    call: ({ caller, id, given, onLimit }) => keys.update(caller, id, given, onLimit),
  })

  const revoking = {
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Revokes a key for good; its record is kept. Its next call is refused, and its running chats and uploads end within a second. Revoking a key again changes nothing, so `revoked_at` stays the time of the first call. Only its owner, its creator and administrators may do so.',
    reasons: ['key_not_found'],
    isUnlimited: true,
    call: ({ caller, id }: { caller: Principal; id: string }) => keys.revoke(caller, id),
  } as const
  serve('POST', '/api/v1/api-keys/:id/revoke', revoking)
  serve('DELETE', '/api/v1/api-keys/:id', {
    ...revoking,
    operationId: 'deleteApiKey',
    description: 'Revokes a key, exactly as `POST /api/v1/api-keys/{id}/revoke` does.',
  })

  serveSecret('POST', '/api/v1/api-keys/:id/rotate', {
    operationId: 'rotateApiKey',
    summary: "Replace an API key's secret",
    description:
      'Gives a key another secret and returns it, in the only response that contains it. The id, the limits, the usage and the history stay, and the secret before can be used until the overlap ends: then it is refused with `key_rotated`. While it can be used, another rotation is refused with `rotation_pending`, unless the newest secret was never used, since the response that had it may have been lost, or the overlap is 0. Running calls go on. The caller must be an administrator, or a premium user who owns the key, and must send an access token; an API key is refused.',
    input: ROTATE_API_KEY,
    check: (_caller, given) => keys.checkRotation(given),
    reasons: ['role_denied', 'key_not_found', 'key_ended', 'rotation_pending', 'upgrade_pending'],
    call: async ({ caller, id, given, onLimit }) => withSecret(await keys.rotate(caller, id, given, onLimit)),
  })

  serve('POST', '/api/v1/api-keys/:id/previous-secret/end', {
    operationId: 'endPreviousSecret',
    summary: "End an API key's previous secret",
    description:
      'Ends the overlap of a rotation: from its next request on, the secret before the present one is refused with `key_rotated`. The present secret and running calls go on. Repeating this, or without such a secret, it changes nothing. Only the owner of the key, its creator and administrators may do so.',
    reasons: ['key_not_found'],
    isUnlimited: true,
    call: ({ caller, id }) => keys.endPreviousSecret(caller, id),
  })

  serve('POST', '/api/v1/api-keys/:id/usage/reset', {
    operationId: 'resetApiKeyUsage',
    summary: "Reset one of an API key's counters",
    description:
      'Sets one of the call counters of a key to zero. The calls stay in the ledger and in the usage reports. Only the creator of the key and administrators may do so.',
    input: RESET_USAGE,
    reasons: ['role_denied', 'key_not_found'],
    call: ({ caller, id, given: { period }, onLimit }) => keys.resetUsage(caller, id, period, onLimit),
  })

  const reading = { schema: currentSchema, onRequest: keyOnly(services), ...bounds }
  app.get('/api/v1/key', reading, async (request) => {
    const { key, owner, rateLimits } = await keys.current(callerOf(request))
    const view = viewOf()
    return success(CURRENT_API_KEY.record({ ...key, rateLimits, quota: quotaOf(owner, view.now) }, view))
  })
}

function withSecret({ key, fullKey }: { key: ApiKey; fullKey: string }) {
  return { ...key, fullKey }
}

const common = { tags: ['api-keys'], 'x-response-headers': LIMIT_HEADERS }

const currentSchema = {
  ...common,
  operationId: 'getCurrentApiKey',
  summary: 'Read the API key of the request',
  description:
    'Returns the record of the API key that the request is sent with, its rate limits and what is left of its quota. Any valid key may call this operation.',
  security: [{ apiKey: [] }],
  response: { 200: envelope(ref(CURRENT_API_KEY.schema)), ...problems('invalid_request', ...KEY_PROBLEMS) },
}
