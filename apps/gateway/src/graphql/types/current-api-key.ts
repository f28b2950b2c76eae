import type { KeyRateLimits } from '#core/accounts/keys/keys.ts'
import { quotaOf } from '#core/accounts/users/user.ts'
import type { ApiKey as ApiKeyRow, User as UserRow } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { builder } from '../builder.ts'
import { ApiKey, RateLimits } from './api-key.ts'
import { Quota } from './quota.ts'

interface CurrentKey {
  readonly key: ApiKeyRow
  readonly owner: UserRow
  readonly rateLimits: KeyRateLimits
}

const CurrentApiKey = builder.objectRef<CurrentKey>('CurrentApiKey').implement({
  description: 'The API key of a request, with what it may still do.',
  fields: (t) => ({
    apiKey: t.expose('key', { type: ApiKey, description: 'The record of the key.' }),
    rateLimits: t.expose('rateLimits', {
      type: RateLimits,
      description: API_KEY_DESCRIPTIONS.rateLimits,
    }),
    quota: t.field({
      type: Quota,
      description: API_KEY_DESCRIPTIONS.quota,
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
