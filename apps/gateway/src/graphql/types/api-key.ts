import type { KeyRateLimits } from '#core/accounts/keys/keys.ts'
import { quotaOf } from '#core/accounts/users/user.ts'
import type { ApiKey as ApiKeyRow, User as UserRow } from '#generated/prisma/client.ts'
import { API_KEY, API_KEYS, QUOTA_OF_OWNER, RATE_LIMITS, RATE_LIMITS_OF_KEY } from '#resources/api-key.ts'
import { builder } from '../builder.ts'
import { foundOr } from '../reads/found-or.ts'
import { connectionOf, orderedField } from '../resources/ordered-list.ts'
import { prismaResource } from '../resources/prisma-resource.ts'
import { resourceType } from '../resources/resource-type.ts'
import { Quota } from './user.ts'

const RateLimits = resourceType(RATE_LIMITS)

export const ApiKey = prismaResource('ApiKey', API_KEY)

builder.prismaObjectField(ApiKey, 'rateLimits', (t) =>
  t.field({
    type: RateLimits,
    description: RATE_LIMITS_OF_KEY,
    select: { chatPerMinute: true, uploadPerMinute: true },
    resolve: (key, _args, { services }) => services.keys.rateLimits(key),
  }),
)

export const ApiKeyConnection = connectionOf(ApiKey, 'API keys', 'An API key')

builder.queryField('apiKey', (t) =>
  t.prismaField({
    type: ApiKey,
    nullable: true,
    description:
      'The API key with this id, which you created or own; administrators see all. Takes an access token, or an API key with the permission `ADMIN`.',
    args: { id: t.arg.id({ required: true, description: 'The id of the key.' }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.managedKey(id, query), 'key_not_found'),
  }),
)

orderedField(API_KEYS, {
  name: 'apiKeys',
  description:
    'The API keys that you created or own, newest first or in the order that you ask for; administrators see all. Takes an access token, or an API key with the permission `ADMIN`.',
  type: ApiKey,
  connection: ApiKeyConnection,
  listOf: ({ services }) => services.keys,
})

interface CurrentKey {
  readonly key: ApiKeyRow
  readonly owner: UserRow
  readonly rateLimits: KeyRateLimits
}

const CurrentApiKey = builder.objectRef<CurrentKey>('CurrentApiKey').implement({
  description: 'The API key of a request, with what it may still do.',
  fields: (t) => ({
    apiKey: t.expose('key', { type: ApiKey, description: 'The record of the key.' }),
    rateLimits: t.expose('rateLimits', { type: RateLimits, description: RATE_LIMITS_OF_KEY }),
    quota: t.field({
      type: Quota,
      description: QUOTA_OF_OWNER,
      resolve: ({ owner }, _args, { now }) => quotaOf(owner, now()),
    }),
  }),
})

builder.queryField('currentApiKey', (t) =>
  t.field({
    type: CurrentApiKey,
    nullable: true,
    description: 'The API key that the request is sent with. Takes any API key, and no access token.',
    resolve: (_root, _args, { loaders }) => loaders.currentKey(),
  }),
)
