import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { KEY_ORDERS, KEY_STATES } from '#core/accounts/keys/key-filter.ts'
import {
  ALLOWED_AGENTS_MAX,
  DESCRIPTION_LENGTH_MAX,
  type KeyLimitsChange,
  NAME_LENGTH_MAX,
  type NewKey,
} from '#core/accounts/keys/key-input.ts'
import { type KeyRateLimits, RESET_PERIODS } from '#core/accounts/keys/keys.ts'
import { type Quota, quotaOf } from '#core/accounts/users/user.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { LIST_DESCRIPTIONS } from '#http/descriptions/list-descriptions.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
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
import { abortedWith } from '#http/request/aborted-with.ts'
import { bodySchema, recordFields } from '#http/request/body-schema.ts'
import { judgeList } from '#http/request/judge-page.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import {
  envelope,
  nullable,
  oneOf,
  orderedPageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
  Timestamp,
  uuid,
} from '#http/response/schemas.ts'
import { ApiKeySchema, createdKeyRecord, keyRecord, PermissionSchema } from '#records/key-record.ts'
import { ApiCallsCount, CallCount, MaxApiCalls, QuotaPeriodSchema } from '#records/user-record.ts'

export function apiKeyRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'keys' | 'authentication' | 'reads'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const { keys } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = managerOnly(services)
  const reads = smallRead(services)
  const answer = (key: ApiKey) => success(keyRecord(key, now()))
  for (const schema of COMPONENTS) app.addSchema(schema)

  const judge = (request: FastifyRequest, { body }: SoundRequest) => {
    const { permissions, owner_id, ...changeable } = (body ?? {}) as GivenFields
    const created = request.method === 'POST' ? { permissions, owner_id } : {}
    keys.check(callerOf(request), newKeyOf({ ...changeable, ...omitUndefined(created) }))
  }

  const creating = { schema: createSchema, onRequest: tokenOnly(services), config: { judge } }
  routes.post('/api/v1/api-keys', creating, async (request, reply) => {
    const { name, description, expires_at, permissions } = request.body
    const required = { name, description, expiresAt: expires_at, permissions }
    const input = { ...newKeyOf(request.body), ...required }
    const created = await keys.create(callerOf(request), input, showLimit(reply))
    return success(createdKeyRecord(created, now()))
  })

  const listing = { schema: listSchema, onRequest, config: { judge: judgeList(KEY_ORDERS) }, ...reads }
  routes.get('/api/v1/api-keys', listing, async (request, reply) => {
    const { limit, cursor, search, state, order_by: orderBy, order } = request.query
    const { expires_before: expiresBefore, owner_id: ownerId } = request.query
    const signal = abortedWith(reply)
    const page = await readOrderedPage({ limit, cursor }, (position) =>
      keys.list(
        callerOf(request),
        { ...position, orderBy, order, signal },
        { search, state, expiresBefore, ownerId },
      ),
    )
    return success(pageRecord(page, (key) => keyRecord(key, now())))
  })

  routes.get('/api/v1/api-keys/:id', { schema: getSchema, onRequest, ...reads }, async (request) =>
    answer(await keys.find(callerOf(request), request.params.id)),
  )

  const changing = { schema: updateSchema, onRequest, config: { judge } }
  routes.patch('/api/v1/api-keys/:id', changing, async (request, reply) => {
    const change = newKeyOf(request.body)
    return answer(await keys.update(callerOf(request), request.params.id, change, showLimit(reply)))
  })

  routes.post('/api/v1/api-keys/:id/revoke', { schema: revokeSchema, onRequest }, async (request) =>
    answer(await keys.revoke(callerOf(request), request.params.id)),
  )

  routes.delete('/api/v1/api-keys/:id', { schema: deleteSchema, onRequest }, async (request) =>
    answer(await keys.revoke(callerOf(request), request.params.id)),
  )

  routes.post(
    '/api/v1/api-keys/:id/usage/reset',
    { schema: resetSchema, onRequest },
    async (request, reply) => {
      const { params, body } = request
      return answer(await keys.resetUsage(callerOf(request), params.id, body.period, showLimit(reply)))
    },
  )

  const reading = { schema: currentSchema, onRequest: keyOnly(services), ...reads }
  routes.get('/api/v1/key', reading, async (request) => {
    const { key, owner, rateLimits } = await keys.current(callerOf(request))
    const at = now()
    return success({ ...keyRecord(key, at), ...allowanceRecord(rateLimits, quotaOf(owner, at)) })
  })
}

type GivenFields = Partial<Static<typeof CreateApiKeySchema>>

/** The fields of a new key, or of a change, that are given. */
function newKeyOf(body: GivenFields): Partial<NewKey> {
  const { name, description, expires_at, permissions, owner_id, allowed_agents, limits } = body
  return {
    ...omitUndefined({ name, description, expiresAt: expires_at, permissions }),
    ownerId: owner_id,
    allowedAgents: allowed_agents,
    limits: limitsChange(limits),
  }
}

function limitsChange(limits: Static<typeof LimitsInput> | undefined): KeyLimitsChange | null | undefined {
  return limits && { chatPerMinute: limits.chat_per_minute, uploadPerMinute: limits.upload_per_minute }
}

function allowanceRecord(rateLimits: KeyRateLimits, quota: Quota): Static<typeof AllowanceSchema> {
  return {
    rate_limits: {
      chat_per_minute: rateLimits.chatPerMinute,
      upload_per_minute: rateLimits.uploadPerMinute,
    },
    quota: {
      max_api_calls: quota.maxApiCalls,
      api_calls_count: quota.apiCallsCount,
      remaining: quota.remaining,
      quota_period: quota.quotaPeriod,
      resets_at: quota.resetsAt?.toISOString() ?? null,
    },
  }
}

const CreatedApiKeySchema = Type.Object(
  {
    ...ApiKeySchema.properties,
    full_key: Type.String({
      description: 'The API key itself. It is shown only in this response, so store it now.',
      examples: ['tl_0000000000000000000000000000000000000000000000000'],
    }),
  },
  { $id: 'CreatedApiKey', description: 'The record of a new API key together with the key itself.' },
)

const AllowanceSchema = Type.Object({
  rate_limits: Type.Object(
    {
      chat_per_minute: Type.Integer({ description: API_KEY_DESCRIPTIONS.chatPerMinute }),
      upload_per_minute: Type.Integer({ description: API_KEY_DESCRIPTIONS.uploadPerMinute }),
    },
    {
      description: API_KEY_DESCRIPTIONS.rateLimits,
    },
  ),
  quota: Type.Object(
    {
      max_api_calls: MaxApiCalls,
      api_calls_count: ApiCallsCount,
      remaining: { ...CallCount, description: USER_DESCRIPTIONS.remaining },
      quota_period: QuotaPeriodSchema,
      resets_at: nullable(Timestamp, USER_DESCRIPTIONS.resetsAt),
    },
    { description: API_KEY_DESCRIPTIONS.quota },
  ),
})

const CurrentApiKeySchema = Type.Object(
  { ...ApiKeySchema.properties, ...AllowanceSchema.properties },
  {
    $id: 'CurrentApiKey',
    description:
      'The record of the API key of the request, with its rate limits and what is left of its quota.',
  },
)

const AllowedAgentsInput = Type.Union(
  [Type.Array(Type.String(), { maxItems: ALLOWED_AGENTS_MAX }), Type.Null()],
  {
    description: API_KEY_DESCRIPTIONS.allowedAgents,
  },
)

const LimitsInput = Type.Union(
  [
    bodySchema({
      chat_per_minute: Type.Optional(
        nullable(Type.Integer(), 'The chats that the key may start in a minute; null removes this limit.'),
      ),
      upload_per_minute: Type.Optional(
        nullable(Type.Integer(), 'The uploads that the key may make in a minute; null removes this limit.'),
      ),
    }),
    Type.Null(),
  ],
  {
    description:
      "The key's own rate limits. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. Null removes them, so that the limits of the gateway apply. Where the gateway counts in windows of another length than a minute, the values are scaled to that length, to at least 1.",
  },
)

const NameInput = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  description: 'A label for the key.',
})
const DescriptionInput = Type.String({
  maxLength: DESCRIPTION_LENGTH_MAX,
  description: 'What the key is for; may be empty.',
})

const EXPIRY =
  'When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`).'

function expiryInput(description: string) {
  return Type.String({ maxLength: 64, description })
}

const CreateApiKeySchema = bodySchema(
  {
    name: NameInput,
    description: DescriptionInput,
    expires_at: expiryInput(EXPIRY),
    permissions: Type.Array(PermissionSchema, {
      minItems: 1,
      uniqueItems: true,
      description: API_KEY_DESCRIPTIONS.permissions,
    }),
    owner_id: Type.Optional(
      uuid(
        'The id of the user whom the key will belong to; the default is the caller. Only administrators may name another user.',
      ),
    ),
    allowed_agents: Type.Optional(AllowedAgentsInput),
    limits: Type.Optional(LimitsInput),
  },
  {
    $id: 'CreateApiKey',
    description: API_KEY_DESCRIPTIONS.newKey,
    examples: [
      {
        name: 'support bot',
        description: 'Answers on the help page.',
        expires_at: '2027-01-31T00:00:00Z',
        permissions: ['chat'],
      },
    ],
    otherFields: recordFields(ApiKeySchema, 'cannot be set.'),
  },
)

const UpdateApiKeySchema = bodySchema(
  {
    name: Type.Optional(NameInput),
    description: Type.Optional(DescriptionInput),
    expires_at: Type.Optional(expiryInput(`${EXPIRY} ${API_KEY_DESCRIPTIONS.newExpiry}`)),
    allowed_agents: Type.Optional(AllowedAgentsInput),
    limits: Type.Optional(LimitsInput),
  },
  {
    $id: 'UpdateApiKey',
    description: API_KEY_DESCRIPTIONS.changes,
    examples: [{ limits: { chat_per_minute: 20 } }],
    otherFields: recordFields(ApiKeySchema, 'cannot be changed.', {
      is_active: 'cannot be changed; `POST /api/v1/api-keys/{id}/revoke` ends a key for good.',
    }),
  },
)

const ResetUsageSchema = bodySchema(
  { period: oneOf(RESET_PERIODS, 'Which counter starts again from zero.') },
  { $id: 'ResetUsageRequest', description: 'Which counter to reset.', examples: [{ period: 'day' }] },
)

const COMPONENTS = [
  ApiKeySchema,
  CreatedApiKeySchema,
  CurrentApiKeySchema,
  CreateApiKeySchema,
  UpdateApiKeySchema,
  ResetUsageSchema,
]

const common = { tags: ['api-keys'], security: [{ accessToken: [] }, { apiKey: [] }] }
const params = Type.Object({
  id: Type.String({ description: 'The id of the key record, which is not the key itself.' }),
})
const key = envelope(ref(ApiKeySchema))

const createSchema = {
  ...common,
  operationId: 'createApiKey',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Create an API key',
  description:
    'Creates an API key and returns it. This response is the only one that contains the whole key. The caller must be an administrator or a premium user and must send an access token; an API key is refused.',
  security: [{ accessToken: [] }],
  body: ref(CreateApiKeySchema),
  response: {
    200: envelope(ref(CreatedApiKeySchema)),
    ...problems(...BODY_PROBLEMS, ...TOKEN_PROBLEMS, 'role_denied', 'too_many_keys', 'too_many_new_keys'),
  },
}

const listSchema = {
  ...common,
  operationId: 'listApiKeys',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the API keys',
  description:
    'Returns the keys that the caller created or owns, newest first or in the order that it asks for. Administrators get the keys of all users.',
  querystring: orderedPageQuery({
    search: LIST_DESCRIPTIONS.searchKeys,
    states: [KEY_STATES, LIST_DESCRIPTIONS.keyState],
    filters: {
      expires_before: Type.Optional(
        Type.String({ maxLength: 64, description: LIST_DESCRIPTIONS.expiresBefore }),
      ),
      owner_id: Type.Optional(Type.String({ maxLength: 64, description: API_KEY_DESCRIPTIONS.ofOwner })),
    },
    fields: [KEY_ORDERS, LIST_DESCRIPTIONS.keyOrder, LIST_DESCRIPTIONS.keyDirection],
  }),
  response: {
    200: envelope(page(ref(ApiKeySchema))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'user_not_found'),
  },
}

const getSchema = {
  ...common,
  operationId: 'getApiKey',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read an API key',
  description:
    'Returns the record of a key that the caller created or owns. Administrators may read any key.',
  params,
  response: { 200: key, ...problems('invalid_request', ...MANAGER_PROBLEMS, 'key_not_found') },
}

const updateSchema = {
  ...common,
  operationId: 'updateApiKey',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Change an API key',
  description:
    'Changes the name, the description, the expiry, the allowed agents or the limits of a key. Only its creator and administrators may do so.',
  params,
  body: ref(UpdateApiKeySchema),
  response: {
    200: key,
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'key_not_found', 'too_many_keys'),
  },
}

const revokeSchema = {
  ...common,
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description:
    'Revokes a key for good; its record is kept. Its next call is refused, and its running chats and uploads end within a second. Revoking a key again changes nothing, so `revoked_at` stays the time of the first call. Only its owner, its creator and administrators may do so.',
  params,
  response: { 200: key, ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'key_not_found') },
}

const resetSchema = {
  ...common,
  operationId: 'resetApiKeyUsage',
  'x-response-headers': LIMIT_HEADERS,
  summary: "Reset one of an API key's counters",
  description:
    'Sets one of the call counters of a key to zero. The calls stay in the ledger and in the usage reports. Only the creator of the key and administrators may do so.',
  params,
  body: ref(ResetUsageSchema),
  response: {
    200: key,
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'key_not_found'),
  },
}

const deleteSchema = {
  ...revokeSchema,
  operationId: 'deleteApiKey',
  description: 'Revokes a key, exactly as `POST /api/v1/api-keys/{id}/revoke` does.',
}

const currentSchema = {
  ...common,
  operationId: 'getCurrentApiKey',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read the API key of the request',
  description:
    'Returns the record of the API key that the request is sent with, its rate limits and what is left of its quota. Any valid key may call this operation.',
  security: [{ apiKey: [] }],
  response: { 200: envelope(ref(CurrentApiKeySchema)), ...problems('invalid_request', ...KEY_PROBLEMS) },
}
