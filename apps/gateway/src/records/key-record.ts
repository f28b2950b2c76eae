import Type, { type Static } from 'typebox'
import {
  allowedAgentsOf,
  callsThisMonth,
  callsToday,
  isActive,
  permissionsOf,
  totalCalls,
} from '#core/keys/key.ts'
import { PERMISSIONS } from '#core/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { nullable, Timestamp, timestamp, uuid } from '#http/reply/schemas.ts'

export const PermissionSchema = Type.Enum([...PERMISSIONS], {
  type: 'string',
  description:
    '`chat` allows chats, `upload` allows uploads, `admin` allows the management operations with the rights of the owner.',
})

export const ApiKeySchema = Type.Object(
  {
    id: uuid('The id of the key record.'),
    name: Type.String({ description: 'A label for the key.', examples: ['support bot'] }),
    description: Type.String({
      description: 'What the key is for.',
      examples: ['Answers on the help page.'],
    }),
    key_prefix: Type.String({
      description: 'The first 12 characters of the key, by which people can recognise it.',
      examples: ['tl_0fQ7sXbV2'],
    }),
    created_at: timestamp('When the key was created'),
    expires_at: timestamp('When the key expires'),
    revoked_at: nullable(Timestamp, 'When the key was revoked; null if it was not.'),
    last_used_at: nullable(Timestamp, 'When the key was last used; null if never.'),
    permissions: Type.Array(PermissionSchema, { description: 'What the key may be used for.' }),
    is_active: Type.Boolean({ description: 'False once the key is revoked or has expired.' }),
    created_by: uuid('The id of the user who created the key.'),
    owner_id: uuid('The id of the user whom the key belongs to and whose quota its calls count towards.'),
    allowed_agents: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description:
        'The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents.',
      examples: [['fastgpt', 'dify/helpdesk']],
    }),
    limits: Type.Object(
      {
        chat_per_minute: nullable(Type.Integer(), 'The chats that the key may start in a minute.'),
        upload_per_minute: nullable(Type.Integer(), 'The uploads that the key may make in a minute.'),
      },
      { description: "The key's own rate limits. Where one is null, the gateway's limit applies." },
    ),
    usage: Type.Object(
      {
        total_calls: Type.Integer({ description: 'The calls since the key was created or last reset.' }),
        calls_today: Type.Integer({ description: 'The calls since midnight UTC.' }),
        calls_this_month: Type.Integer({ description: 'The calls since the first of the month, UTC.' }),
        last_used_at: nullable(Timestamp, 'When the key was last used; null if never.'),
      },
      { description: "The key's call counters." },
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
