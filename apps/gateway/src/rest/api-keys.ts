import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import {
  ALLOWED_AGENTS_MAX,
  DESCRIPTION_LENGTH_MAX,
  type KeyLimitsChange,
  NAME_LENGTH_MAX,
} from '#core/keys/key-input.ts'
import { type KeyRateLimits, RESET_PERIODS } from '#core/keys/keys.ts'
import { readPage } from '#core/pagination.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Services } from '#core/services/services.ts'
import { type Quota, quotaOf } from '#core/users/user.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { BODY_PROBLEMS } from '#http/body-problems.ts'
import {
  callerOf,
  KEY_PROBLEMS,
  keyOnly,
  MANAGER_PROBLEMS,
  managerOnly,
  TOKEN_PROBLEMS,
  tokenOnly,
} from '#http/credentials.ts'
import {
  envelope,
  nullable,
  oneOf,
  PageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
  Timestamp,
  Uuid,
} from '#http/schemas.ts'
import { ApiKeySchema, createdKeyRecord, keyRecord, PermissionSchema } from './key-record.ts'
import { CallCount, QuotaPeriodSchema } from './user-record.ts'

export function apiKeyRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'keys' | 'authentication'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const { keys } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = managerOnly(services)
  const answer = (key: ApiKey) => success(keyRecord(key, now()))
  for (const schema of COMPONENTS) app.addSchema(schema)

  const creating = { schema: createSchema, onRequest: tokenOnly(services) }
  routes.post('/api/v1/api-keys', creating, async (request, reply) => {
    const { name, description, expires_at, permissions, owner_id, allowed_agents, limits } = request.body
    const created = await keys.create(callerOf(request), {
      name,
      description,
      expiresAt: expires_at,
      permissions,
      ownerId: owner_id,
      allowedAgents: allowed_agents,
      limits: limitsChange(limits),
    })
    reply.header('cache-control', 'no-store')
    return success(createdKeyRecord(created, now()))
  })

  routes.get('/api/v1/api-keys', { schema: listSchema, onRequest }, async (request) => {
    const { active, ...position } = request.query
    const page = await readPage(position, (query) => keys.list(callerOf(request), query, { active }))
    return success(pageRecord(page, (key) => keyRecord(key, now())))
  })

  routes.get('/api/v1/api-keys/:id', { schema: getSchema, onRequest }, async (request) =>
    answer(await keys.find(callerOf(request), request.params.id)),
  )

  routes.patch('/api/v1/api-keys/:id', { schema: updateSchema, onRequest }, async (request) => {
    const { name, description, allowed_agents, limits } = request.body
    const change = { name, description, allowedAgents: allowed_agents, limits: limitsChange(limits) }
    return answer(await keys.update(callerOf(request), request.params.id, change))
  })

  routes.post('/api/v1/api-keys/:id/revoke', { schema: revokeSchema, onRequest }, async (request) =>
    answer(await keys.revoke(callerOf(request), request.params.id)),
  )

  routes.delete('/api/v1/api-keys/:id', { schema: deleteSchema, onRequest }, async (request) =>
    answer(await keys.revoke(callerOf(request), request.params.id)),
  )

  routes.post('/api/v1/api-keys/:id/usage/reset', { schema: resetSchema, onRequest }, async (request) => {
    const { params, body } = request
    return answer(await keys.resetUsage(callerOf(request), params.id, body.period))
  })

  const reading = { schema: currentSchema, onRequest: keyOnly(services) }
  routes.get('/api/v1/key', reading, async (request) => {
    const { key, owner, rateLimits } = await keys.current(callerOf(request))
    const at = now()
    return success({ ...keyRecord(key, at), ...allowanceRecord(rateLimits, quotaOf(owner, at)) })
  })
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
      description: 'The secret key; never shown again.',
      examples: ['tl_0000000000000000000000000000000000000000000000000'],
    }),
  },
  { $id: 'CreatedApiKey' },
)

const AllowanceSchema = Type.Object({
  rate_limits: Type.Object(
    { chat_per_minute: Type.Integer(), upload_per_minute: Type.Integer() },
    { description: 'Those in force, whatever the windows in which the gateway counts.' },
  ),
  quota: Type.Object(
    {
      max_api_calls: CallCount,
      api_calls_count: CallCount,
      remaining: CallCount,
      quota_period: QuotaPeriodSchema,
      resets_at: nullable(Timestamp),
    },
    { description: "The owner's, which all its keys share." },
  ),
})

const CurrentApiKeySchema = Type.Object(
  { ...ApiKeySchema.properties, ...AllowanceSchema.properties },
  { $id: 'CurrentApiKey' },
)

const AllowedAgentsInput = Type.Union(
  [Type.Array(Type.String(), { maxItems: ALLOWED_AGENTS_MAX }), Type.Null()],
  {
    description: '`agent` or `agent/app`; null allows all.',
  },
)

const LimitsInput = Type.Union(
  [
    Type.Object({
      chat_per_minute: Type.Optional(nullable(Type.Integer())),
      upload_per_minute: Type.Optional(nullable(Type.Integer())),
    }),
    Type.Null(),
  ],
  {
    description:
      "At most the gateway's own limits; null: those. Where the gateway counts in other windows than a minute, they are scaled to them, to at least 1.",
  },
)

const NameInput = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })
const DescriptionInput = Type.String({ maxLength: DESCRIPTION_LENGTH_MAX })

const CreateApiKeySchema = Type.Object(
  {
    name: NameInput,
    description: DescriptionInput,
    expires_at: Type.String({ maxLength: 64, description: 'ISO 8601 with a zone, in the future.' }),
    permissions: Type.Array(PermissionSchema, { minItems: 1, uniqueItems: true }),
    owner_id: Type.Optional({ ...Uuid, description: 'Admins only: whom the key is for.' }),
    allowed_agents: Type.Optional(AllowedAgentsInput),
    limits: Type.Optional(LimitsInput),
  },
  {
    $id: 'CreateApiKey',
    examples: [
      {
        name: 'support bot',
        description: 'Answers on the help page.',
        expires_at: '2027-01-31T00:00:00Z',
        permissions: ['chat'],
      },
    ],
  },
)

const UpdateApiKeySchema = Type.Object(
  {
    name: Type.Optional(NameInput),
    description: Type.Optional(DescriptionInput),
    allowed_agents: Type.Optional(AllowedAgentsInput),
    limits: Type.Optional(LimitsInput),
  },
  {
    $id: 'UpdateApiKey',
    description: 'What is absent stays as it is.',
    examples: [{ limits: { chat_per_minute: 20 } }],
  },
)

const ResetUsageSchema = Type.Object(
  { period: oneOf(RESET_PERIODS, 'The counter that starts again from zero.') },
  { $id: 'ResetUsageRequest', examples: [{ period: 'day' }] },
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
const params = Type.Object({ id: Type.String() })
const key = envelope(ref(ApiKeySchema))

const createSchema = {
  ...common,
  operationId: 'createApiKey',
  summary: 'Create an API key',
  description: 'Admin and premium users, with an access token. Only here the whole key is shown.',
  security: [{ accessToken: [] }],
  body: ref(CreateApiKeySchema),
  response: {
    200: envelope(ref(CreatedApiKeySchema)),
    ...problems(...BODY_PROBLEMS, ...TOKEN_PROBLEMS, 'role_denied', 'too_many_keys'),
  },
}

const listSchema = {
  ...common,
  operationId: 'listApiKeys',
  summary: 'List the API keys',
  description: 'Newest first: those that the caller created or owns; for admins all.',
  querystring: Type.Object({
    ...PageQuery,
    active: Type.Optional(
      Type.Boolean({ description: 'true: those that can be used now; false: revoked and expired ones.' }),
    ),
  }),
  response: {
    200: envelope(page(ref(ApiKeySchema))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS),
  },
}

const getSchema = {
  ...common,
  operationId: 'getApiKey',
  summary: 'Read an API key',
  params,
  response: { 200: key, ...problems(...MANAGER_PROBLEMS, 'key_not_found') },
}

const managing = {
  200: key,
  ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'key_not_found'),
}

const updateSchema = {
  ...common,
  operationId: 'updateApiKey',
  summary: 'Change an API key',
  description: 'For its creator and admins.',
  params,
  body: ref(UpdateApiKeySchema),
  response: managing,
}

const revokeSchema = {
  ...common,
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'For its creator and admins. The record is kept; repeated, the first time stands.',
  params,
  response: managing,
}

const resetSchema = {
  ...common,
  operationId: 'resetApiKeyUsage',
  summary: "Reset one of an API key's counters",
  description: 'For its creator and admins. The calls stay in the reports.',
  params,
  body: ref(ResetUsageSchema),
  response: managing,
}

const deleteSchema = { ...revokeSchema, operationId: 'deleteApiKey', description: 'The same as revoke.' }

const currentSchema = {
  ...common,
  operationId: 'getCurrentApiKey',
  summary: 'Read the API key that is sent',
  description: 'Any valid key, with the limits and the quota that it has left.',
  security: [{ apiKey: [] }],
  response: { 200: envelope(ref(CurrentApiKeySchema)), ...problems(...KEY_PROBLEMS) },
}
