import Type, { type Static } from 'typebox'
import { apiCallsCount, maxApiCalls } from '#core/accounts/users/user.ts'
import { CALLS_MAX, knownStatus, USER_STATUSES } from '#core/accounts/users/user-rules.ts'
import { knownPeriod, QUOTA_PERIODS } from '#core/ledger/quota-period.ts'
import { knownRole, ROLES } from '#core/requests/principal.ts'
import type { User } from '#generated/prisma/client.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
import { nullable, Timestamp, timestamp, uuid } from '#http/response/schemas.ts'

export const RoleSchema = Type.Enum([...ROLES], {
  type: 'string',
  description:
    'What the user may do: `user` sees only itself, `premium` also creates API keys, `admin` manages everything.',
})
export const StatusSchema = Type.Enum([...USER_STATUSES], {
  type: 'string',
  description: 'The gateway refuses all keys and tokens of a suspended user.',
})
export const QuotaPeriodSchema = Type.Enum([...QUOTA_PERIODS], {
  type: 'string',
  description:
    'The period for which `max_api_calls` applies: a day or a month in UTC, or the whole lifetime of the user (`none`).',
})
export const CallCount = Type.Integer({ minimum: 0, maximum: CALLS_MAX })
export const MaxApiCalls = {
  ...CallCount,
  description: USER_DESCRIPTIONS.maxApiCalls,
}
export const ApiCallsCount = {
  ...CallCount,
  description: USER_DESCRIPTIONS.apiCallsCount,
}

/** The nine fields that the interface defines for the user of a login. */
export const UserSchema = Type.Object(
  {
    id: uuid(USER_DESCRIPTIONS.id),
    username: Type.String({
      description: USER_DESCRIPTIONS.username,
      examples: ['alice'],
    }),
    role: RoleSchema,
    status: StatusSchema,
    created_at: timestamp(USER_DESCRIPTIONS.createdAt),
    updated_at: timestamp(USER_DESCRIPTIONS.updatedAt),
    last_login: nullable(Timestamp, USER_DESCRIPTIONS.lastLogin),
    api_calls_count: ApiCallsCount,
    max_api_calls: MaxApiCalls,
  },
  { $id: 'User', description: 'A user, as a login returns it.' },
)

/** A user as administrators and the user itself see it. */
export const FullUserSchema = Type.Object(
  { ...UserSchema.properties, quota_period: QuotaPeriodSchema },
  { $id: 'FullUser', description: 'A user, as administrators and the user itself see it.' },
)

export function fullUserRecord(user: User, now: Date): Static<typeof FullUserSchema> {
  return { ...userRecord(user, now), quota_period: knownPeriod(user.quotaPeriod) }
}

export function userRecord(user: User, now: Date): Static<typeof UserSchema> {
  return {
    id: user.id,
    username: user.username,
    role: knownRole(user.role),
    status: knownStatus(user.status),
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    last_login: user.lastLogin?.toISOString() ?? null,
    api_calls_count: apiCallsCount(user, now),
    max_api_calls: maxApiCalls(user),
  }
}
