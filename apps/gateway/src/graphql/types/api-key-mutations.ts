import { RESET_PERIODS } from '#core/accounts/keys/keys.ts'
import type { ApiKey as ApiKeyRow } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { PERMISSION } from '#resources/api-key.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { enumOf, vocabularyEnum } from '../enum-of.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { ApiKey } from './api-key.ts'

const Permission = vocabularyEnum(PERMISSION)

const ApiKeyCounter = enumOf('ApiKeyCounter', RESET_PERIODS, {
  description: 'One of the call counters of an API key.',
  values: { day: '`callsToday`.', month: '`callsThisMonth`.', total: '`totalCalls`.' },
})

const ApiKeyLimitsInput = builder.inputType('ApiKeyLimitsInput', {
  description:
    'The own rate limits of an API key. Only administrators may set one above that of the gateway, up to `limits.maxPerKey` of the configuration. Null removes a limit; one that is absent keeps its value.',
  fields: (t) => ({
    chatPerMinute: t.int({ description: API_KEY_DESCRIPTIONS.chatPerMinute }),
    uploadPerMinute: t.int({ description: API_KEY_DESCRIPTIONS.uploadPerMinute }),
  }),
})

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: API_KEY_DESCRIPTIONS.newKey,
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'A label for the key, such as `support bot`, at most 100 characters.',
    }),
    description: t.string({ required: true, description: 'What the key is for, at most 500 characters.' }),
    expiresAt: t.field({
      type: 'DateTime',
      required: true,
      description:
        'When the key expires, such as `2027-01-31T00:00:00Z`: in the future, by default at most ten years ahead. A date alone is the end of that day in UTC.',
    }),
    permissions: t.field({
      type: [Permission],
      required: true,
      description: 'What the key may be used for, at least one. Only administrators may grant `ADMIN`.',
    }),
    ownerId: t.id({
      description:
        'The id of the user whom the key belongs to: you by default. Only administrators may name another.',
    }),
    allowedAgents: t.stringList({
      description:
        'The agents that the key may call, each as `agent` or, for one app alone, `agent/app`, such as `["dify/helpdesk"]`. Null, the default, allows all agents.',
    }),
    limits: t.field({
      type: ApiKeyLimitsInput,
      description: "The key's own rate limits; by default those of the gateway apply.",
    }),
  }),
})

const keyId = { required: true, description: 'The id of the key.' } as const

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description: 'The key and the fields to change. A field that is absent keeps its value.',
  fields: (t) => ({
    keyId: t.id(keyId),
    name: t.string({ description: 'A label for the key, at most 100 characters. Null keeps the label.' }),
    description: t.string({
      description: 'What the key is for, at most 500 characters. Null keeps the text.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: `When the key expires: in the future, by default at most ten years ahead. Null keeps the time. ${API_KEY_DESCRIPTIONS.newExpiry}`,
    }),
    allowedAgents: t.stringList({
      description: API_KEY_DESCRIPTIONS.allowedAgents,
    }),
    limits: t.field({
      type: ApiKeyLimitsInput,
      description: "The key's own rate limits. Null removes both.",
    }),
  }),
})

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'The API key to revoke.',
  fields: (t) => ({ keyId: t.id(keyId) }),
})

const ResetApiKeyUsageInput = builder.inputType('ResetApiKeyUsageInput', {
  description: 'The API key and the counter to set to zero.',
  fields: (t) => ({
    keyId: t.id(keyId),
    period: t.field({ type: ApiKeyCounter, required: true, description: 'The counter.' }),
  }),
})

const CreateApiKeyPayload = builder
  .objectRef<{ key: ApiKeyRow; fullKey: string }>('CreateApiKeyPayload')
  .implement({
    description: 'A new API key, and the key itself.',
    fields: (t) => ({
      apiKey: t.expose('key', { type: ApiKey, description: 'The record of the key.' }),
      fullKey: t.exposeString('fullKey', {
        description: 'The API key itself. It is shown only here, so store it now.',
      }),
    }),
  })

function apiKeyPayload(name: string, { description, apiKey }: { description: string; apiKey: string }) {
  return builder.objectRef<ApiKeyRow>(name).implement({
    description,
    fields: (t) => ({ apiKey: t.field({ type: ApiKey, description: apiKey, resolve: (row) => row }) }),
  })
}

const UpdateApiKeyPayload = apiKeyPayload('UpdateApiKeyPayload', {
  description: 'What `updateApiKey` has done.',
  apiKey: 'The key with the changes.',
})

const RevokeApiKeyPayload = apiKeyPayload('RevokeApiKeyPayload', {
  description: 'What `revokeApiKey` has done.',
  apiKey: 'The revoked key.',
})

const ResetApiKeyUsagePayload = apiKeyPayload('ResetApiKeyUsagePayload', {
  description: 'What `resetApiKeyUsage` has done.',
  apiKey: 'The key with its counters.',
})

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    nullable: true,
    description:
      'Creates an API key. Takes an access token of an administrator or a premium user; API keys cannot create API keys.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: 'The new key.' }) },
    resolve: (_root, { input: { ownerId, ...input } }, context) =>
      context.services.keys.create(
        callerOf(context),
        { ...input, ownerId: ownerId ?? undefined },
        showLimit(context.reply),
      ),
  }),
  updateApiKey: t.field({
    type: UpdateApiKeyPayload,
    nullable: true,
    description:
      'Changes the name, the description, the expiry, the allowed agents or the limits of an API key. Only for its creator and administrators. Takes an access token, or an API key with the permission `ADMIN`.',
    args: {
      input: t.arg({
        type: UpdateApiKeyInput,
        required: true,
        description: 'The key and the fields to change.',
      }),
    },
    resolve: (_root, { input: { keyId, name, description, expiresAt, ...change } }, context) =>
      context.services.keys.update(
        callerOf(context),
        keyId,
        { ...change, ...withoutNulls({ name, description, expiresAt }) },
        showLimit(context.reply),
      ),
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    nullable: true,
    description:
      'Revokes an API key for good, from its next request on; its subscriptions end within a second. Its record is kept, and the first revocation sets its time. Only for its owner, its creator and administrators. Takes an access token, or an API key with the permission `ADMIN`.',
    args: {
      input: t.arg({ type: RevokeApiKeyInput, required: true, description: 'The key to revoke.' }),
    },
    resolve: (_root, { input: { keyId } }, context) => context.services.keys.revoke(callerOf(context), keyId),
  }),
  resetApiKeyUsage: t.field({
    type: ResetApiKeyUsagePayload,
    nullable: true,
    description:
      'Sets a call counter of an API key to zero. Reports and the list of calls keep the calls. Only for its creator and administrators. Takes an access token, or an API key with the permission `ADMIN`.',
    args: {
      input: t.arg({
        type: ResetApiKeyUsageInput,
        required: true,
        description: 'The key and the counter.',
      }),
    },
    resolve: (_root, { input: { keyId, period } }, context) =>
      context.services.keys.resetUsage(callerOf(context), keyId, period, showLimit(context.reply)),
  }),
}))
