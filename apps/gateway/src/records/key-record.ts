import Type, { type Static } from 'typebox'
import {
  allowedAgentsOf,
  callsThisMonth,
  callsToday,
  isActive,
  permissionsOf,
  totalCalls,
} from '#core/accounts/keys/key.ts'
import { PERMISSIONS } from '#core/requests/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { nullable, Timestamp, timestamp, uuid } from '#http/response/schemas.ts'

export const PermissionSchema = Type.Enum([...PERMISSIONS], {
  type: 'string',
  description:
    '`chat` allows chats, `upload` allows uploads, `admin` allows the management operations with the rights of the owner.',
})

export const ApiKeySchema = Type.Object(
  {
    id: uuid('The id of the key record.'),
    name: Type.String({ description: API_KEY_DESCRIPTIONS.name, examples: ['support bot'] }),
    description: Type.String({
      description: API_KEY_DESCRIPTIONS.description,
      examples: ['Answers on the help page.'],
    }),
    key_prefix: Type.String({
      description: API_KEY_DESCRIPTIONS.keyPrefix,
      examples: ['tl_0fQ7sXbV2'],
    }),
    created_at: timestamp(API_KEY_DESCRIPTIONS.createdAt),
    expires_at: timestamp(API_KEY_DESCRIPTIONS.expiresAt),
    revoked_at: nullable(Timestamp, API_KEY_DESCRIPTIONS.revokedAt),
    last_used_at: nullable(Timestamp, API_KEY_DESCRIPTIONS.lastUsedAt),
    permissions: Type.Array(PermissionSchema, { description: API_KEY_DESCRIPTIONS.permissions }),
    is_active: Type.Boolean({ description: API_KEY_DESCRIPTIONS.isActive }),
    created_by: uuid(API_KEY_DESCRIPTIONS.creatorId),
    owner_id: uuid(API_KEY_DESCRIPTIONS.ownerId),
    allowed_agents: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: API_KEY_DESCRIPTIONS.allowedAgents,
      examples: [['fastgpt', 'dify/helpdesk']],
    }),
    limits: Type.Object(
      {
        chat_per_minute: nullable(Type.Integer(), API_KEY_DESCRIPTIONS.chatPerMinute),
        upload_per_minute: nullable(Type.Integer(), API_KEY_DESCRIPTIONS.uploadPerMinute),
      },
      { description: API_KEY_DESCRIPTIONS.limits },
    ),
    usage: Type.Object(
      {
        total_calls: Type.Integer({ description: API_KEY_DESCRIPTIONS.totalCalls }),
        calls_today: Type.Integer({ description: API_KEY_DESCRIPTIONS.callsToday }),
        calls_this_month: Type.Integer({ description: API_KEY_DESCRIPTIONS.callsThisMonth }),
        last_used_at: nullable(Timestamp, API_KEY_DESCRIPTIONS.lastUsedAt),
      },
      { description: API_KEY_DESCRIPTIONS.usage },
    ),
  },
  { $id: 'ApiKey', description: 'The record of an API key, without the key itself.' },
)

/** The record of a new key together with the key itself, which no other response contains. */
export function createdKeyRecord({ key, fullKey }: { key: ApiKey; fullKey: string }, now: Date) {
  return { ...keyRecord(key, now), full_key: fullKey }
}

export function keyRecord(key: ApiKey, now: Date): Static<typeof ApiKeySchema> {
  const lastUsedAt = key.lastUsedAt?.toISOString() ?? null
  return {
    id: key.id,
    name: key.name,
    description: key.description,
    key_prefix: key.prefix,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: lastUsedAt,
    permissions: permissionsOf(key),
    is_active: isActive(key, now),
    created_by: key.createdById,
    owner_id: key.ownerId,
    allowed_agents: allowedAgentsOf(key),
    limits: {
      chat_per_minute: key.chatPerMinute,
      upload_per_minute: key.uploadPerMinute,
    },
    usage: {
      total_calls: totalCalls(key),
      calls_today: callsToday(key, now),
      calls_this_month: callsThisMonth(key, now),
      last_used_at: lastUsedAt,
    },
  }
}
