import { apiCallsCount, maxApiCalls, type Quota } from '#core/accounts/users/user.ts'
import type { UserFilter } from '#core/accounts/users/user-filter.ts'
import { USER_ORDERS } from '#core/accounts/users/user-filter.ts'
import { knownStatus, USER_STATUSES } from '#core/accounts/users/user-rules.ts'
import { knownPeriod, QUOTA_PERIODS } from '#core/ledger/quota-period.ts'
import { SEARCH_LENGTH_MAX } from '#core/lists/search.ts'
import { knownRole, ROLES } from '#core/requests/principal.ts'
import type { User } from '#generated/prisma/client.ts'
import { byInteger, byText, byWord, type ConditionsOf, ordersOf } from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import { derivedFrom, id, large, nullable, text, time, words } from './define/fields.ts'
import type { View } from './define/resource.ts'
import { closed } from './define/vocabulary.ts'

export const ROLE = closed('Role', ROLES, 'What a user may do.', {
  admin: 'Manages all users and keys, and sees all usage.',
  premium: 'Creates API keys for itself.',
  user: 'Sees only itself, and uses the keys that an administrator created for it.',
})

export const USER_STATUS = closed('UserStatus', USER_STATUSES, 'Whether a user may use the gateway.', {
  active: 'The user may log in, and its keys work.',
  suspended:
    'The tokens and keys of the user are refused, and the calls that ran with these keys have ended.',
})

export const QUOTA_PERIOD = closed(
  'QuotaPeriod',
  QUOTA_PERIODS,
  'How often the calls of a user are counted from zero.',
  {
    none: 'Never: the quota holds for all calls ever.',
    day: 'At midnight, UTC.',
    month: 'On the first of the month, UTC.',
  },
)

const MAX_API_CALLS = large('How many calls the user may make in a quota period; 0 allows none.', 0)
const API_CALLS_COUNT = large(
  'How many calls the user has made in the current quota period; all calls ever if there is no period.',
  0,
)
const PERIOD = words(QUOTA_PERIOD, 'How often the calls are counted from zero.')

export const QUOTA = defineResource<Quota>()(
  'Quota',
  'How many calls a user may make. All API keys of the user share it.',
  {
    maxApiCalls: MAX_API_CALLS,
    apiCallsCount: API_CALLS_COUNT,
    remaining: large('How many calls are left in the current quota period.', 0),
    quotaPeriod: PERIOD,
    resetsAt: nullable(time('When the next period begins; null if there is no period.')),
  },
)

type Seen = Pick<View, 'now'>
const { computed } = derivedFrom<User, Seen>()

const USER_FIELDS = {
  id: id('The id of the user.'),
  username: text('The name with which the user logs in; unique without regard to case.'),
  role: computed(words(ROLE, 'What the user may do.'), ['role'], ({ role }) => knownRole(role)),
  status: computed(words(USER_STATUS, 'Whether the user may use the gateway.'), ['status'], ({ status }) =>
    knownStatus(status),
  ),
  createdAt: time('When the user was created.'),
  updatedAt: time('When the user was last changed.'),
  lastLogin: nullable(time('When the user last logged in; null if never.')),
  apiCallsCount: computed(API_CALLS_COUNT, ['apiCallsCount', 'quotaPeriod', 'quotaStart'], (user, { now }) =>
    apiCallsCount(user, now),
  ),
  maxApiCalls: computed(MAX_API_CALLS, ['maxApiCalls'], maxApiCalls),
}
const USER_EXAMPLE = {
  id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
  username: 'alice',
  role: 'premium',
  status: 'active',
  created_at: '2026-11-20T08:30:00.000Z',
  updated_at: '2026-11-20T08:30:00.000Z',
  last_login: null,
  api_calls_count: 812,
  max_api_calls: 10_000,
} as const

/** The nine fields that the interface defines for the user of a login. */
export const LOGIN_USER = defineResource<User, Seen>()(
  'User',
  'A user, as a login returns it.',
  USER_FIELDS,
  USER_EXAMPLE,
)

export const USER = defineResource<User, Seen>()(
  'FullUser',
  'A user of the gateway, as administrators and the user itself see it.',
  {
    ...USER_FIELDS,
    quotaPeriod: computed(PERIOD, ['quotaPeriod'], ({ quotaPeriod }) => knownPeriod(quotaPeriod)),
  },
  { ...USER_EXAMPLE, quota_period: 'month' },
)

export const USERS = {
  of: USER,
  path: 'users',
  operationId: 'listUsers',
  summary: 'List the users',
  description:
    'Returns the users, newest first or in the order that the caller asks for. Only administrators may call this operation.',
  conditions: {
    search: byText(
      'Only users with this in their username or id, without regard to case. Every character stands for itself. A blank text selects all.',
      SEARCH_LENGTH_MAX,
    ),
    state: byWord(USER_STATUS, 'Only users with this status.'),
    role: byWord(ROLE, 'Only users with this role.'),
    quotaPercentMin: byInteger(
      'Only users who have used at least this share of their quota, in percent from 0 to 100; 100 selects those whose calls are refused.',
      { minimum: 0, maximum: 100 },
    ),
  } satisfies ConditionsOf<UserFilter>,
  orders: ordersOf(
    'UserOrder',
    USER_ORDERS,
    'What a list of users can be ordered by.',
    {
      created_at: 'The time of creation.',
      username: 'The username, without regard to case.',
      last_login: 'The time of the last login.',
      api_calls_count: 'The calls that count towards the quota.',
      quota_used: 'The share of the quota that is used.',
    },
    {
      orderBy:
        'What the users are ordered by, and among equal ones by their ids. Users who never logged in come last.',
      order:
        'The direction. By default, usernames ascend, and times of creation and login, numbers of calls and used shares descend.',
    },
  ),
}
