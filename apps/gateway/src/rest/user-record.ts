import Type, { type Static } from 'typebox'
import { ROLES } from '#core/principal.ts'
import { apiCallsCount, maxApiCalls } from '#core/users/user.ts'
import { CALLS_MAX, QUOTA_PERIODS, USER_STATUSES } from '#core/users/user-rules.ts'
import type { User } from '#generated/prisma/client.ts'
import { nullable, Timestamp, Uuid } from '#http/schemas.ts'

export const RoleSchema = Type.Enum([...ROLES], { type: 'string' })
export const StatusSchema = Type.Enum([...USER_STATUSES], { type: 'string' })
export const QuotaPeriodSchema = Type.Enum([...QUOTA_PERIODS], {
  type: 'string',
  description: 'What `max_api_calls` holds for: a UTC day, a UTC month or, with none, forever.',
})
export const CallCount = Type.Integer({ minimum: 0, maximum: CALLS_MAX })

/** The nine fields of the interface, as login shows them. */
export const UserSchema = Type.Object(
  {
    id: Uuid,
    username: Type.String({ examples: ['alice'] }),
    role: RoleSchema,
    status: StatusSchema,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_login: nullable(Timestamp),
    api_calls_count: CallCount,
    max_api_calls: CallCount,
  },
  { $id: 'User' },
)

/** What administrators and the users themselves see of a user. */
export const FullUserSchema = Type.Object(
  { ...UserSchema.properties, quota_period: QuotaPeriodSchema },
  { $id: 'FullUser', description: '`api_calls_count` is that of the current `quota_period`.' },
)

export function fullUserRecord(user: User, now: Date): Static<typeof FullUserSchema> {
  return { ...userRecord(user, now), quota_period: user.quotaPeriod }
}

export function userRecord(user: User, now: Date): Static<typeof UserSchema> {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    status: user.status,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    last_login: user.lastLogin?.toISOString() ?? null,
    api_calls_count: apiCallsCount(user, now),
    max_api_calls: maxApiCalls(user),
  }
}
