import Type, { type Static } from 'typebox'
import type { Account } from '#core/users/account.ts'
import { nullable, Timestamp, Uuid } from './schemas.ts'

export const RoleSchema = Type.Enum(['admin', 'premium', 'user'], { type: 'string' })
export const StatusSchema = Type.Enum(['active', 'suspended'], { type: 'string' })
export const QuotaPeriodSchema = Type.Enum(['none', 'day', 'month'], {
  type: 'string',
  description: 'What `max_api_calls` holds for: a UTC day, a UTC month or, with none, forever.',
})
export const CallCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

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

export function userRecord(account: Account): Static<typeof UserSchema> {
  return {
    id: account.id,
    username: account.username,
    role: account.role,
    status: account.status,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    last_login: account.lastLogin?.toISOString() ?? null,
    api_calls_count: account.apiCallsCount,
    max_api_calls: account.maxApiCalls,
  }
}
