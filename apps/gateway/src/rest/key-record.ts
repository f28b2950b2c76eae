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
import { nullable, Timestamp, Uuid } from '#http/schemas.ts'

export const PermissionSchema = Type.Enum([...PERMISSIONS], { type: 'string' })

export const ApiKeySchema = Type.Object(
  {
    id: Uuid,
    name: Type.String({ examples: ['support bot'] }),
    description: Type.String({ examples: ['Answers on the help page.'] }),
    key_prefix: Type.String({
      description: 'The first 12 characters of the key.',
      examples: ['tl_0fQ7sXbV2'],
    }),
    created_at: Timestamp,
    expires_at: Timestamp,
    revoked_at: nullable(Timestamp),
    last_used_at: nullable(Timestamp),
    permissions: Type.Array(PermissionSchema),
    is_active: Type.Boolean({ description: 'false once revoked or expired.' }),
    created_by: Uuid,
    owner_id: Uuid,
    allowed_agents: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: '`agent` or `agent/app`; null: all.',
      examples: [['fastgpt', 'dify/helpdesk']],
    }),
    limits: Type.Object(
      { chat_per_minute: nullable(Type.Integer()), upload_per_minute: nullable(Type.Integer()) },
      { description: "The key's own; null: the gateway's." },
    ),
    usage: Type.Object({
      total_calls: Type.Integer(),
      calls_today: Type.Integer({ description: 'Since midnight UTC.' }),
      calls_this_month: Type.Integer({ description: 'Since the first of the month, UTC.' }),
      last_used_at: nullable(Timestamp),
    }),
  },
  { $id: 'ApiKey' },
)

/** A key's record with the key itself, which is seen only once. */
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
