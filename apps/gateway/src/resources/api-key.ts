import {
  allowedAgentsOf,
  callsThisMonth,
  callsToday,
  KEY_STATES,
  type KeySecret,
  permissionsOf,
  secretsOf,
  stateOf,
  totalCalls,
} from '#core/accounts/keys/key.ts'
import type { KeyFilter } from '#core/accounts/keys/key-filter.ts'
import { KEY_ORDERS } from '#core/accounts/keys/key-filter.ts'
import { type KeyRateLimits, RESET_PERIODS } from '#core/accounts/keys/keys.ts'
import type { Quota } from '#core/accounts/users/user.ts'
import { SEARCH_LENGTH_MAX } from '#core/lists/search.ts'
import { PERMISSIONS } from '#core/requests/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { byText, byTime, byUser, byWord, type ConditionsOf, ordersOf } from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import {
  derivedFrom,
  flag,
  id,
  integer,
  large,
  nullable,
  object,
  objects,
  text,
  texts,
  time,
  user,
  wordList,
  words,
} from './define/fields.ts'
import type { View } from './define/resource.ts'
import { closed } from './define/vocabulary.ts'
import { QUOTA } from './user.ts'

export const PERMISSION = closed('Permission', PERMISSIONS, 'What an API key may be used for.', {
  chat: 'Chats.',
  upload: 'Uploads.',
  admin: 'Everything that its owner may do, except creating API keys.',
})

export const API_KEY_STATE = closed(
  'ApiKeyState',
  KEY_STATES,
  'Whether an API key can be used, and why not.',
  {
    active: 'The key can be used.',
    paused: 'The key is paused, and can be used again once that is lifted.',
    revoked: 'The key was revoked.',
    expired: 'The key has expired, and was not revoked before.',
  },
)

export const API_KEY_COUNTER = closed(
  'ApiKeyCounter',
  RESET_PERIODS,
  'One of the call counters of an API key, in its `usage`.',
  {
    day: 'The calls of this day, UTC.',
    month: 'The calls of this month, UTC.',
    total: 'The calls since the last reset.',
  },
)

type Seen = Pick<View, 'now'>
const { computed, part } = derivedFrom<ApiKey, Seen>()

const CHAT_PER_MINUTE = integer('The chats that the key may start in a minute.')
const UPLOAD_PER_MINUTE = integer('The uploads that the key may make in a minute.')
const LAST_USED_AT = nullable(time('When the key was last used; null if never.'))

const SECRET = defineResource<KeySecret>()('ApiKeySecret', 'A secret with which an API key can be used.', {
  keyPrefix: text('The first 12 characters of the secret, by which people can recognise it.'),
  lastUsedAt: nullable(time('When the secret was last used; null if never.')),
  endsAt: nullable(time('When the secret can no longer be used; null for the present one.')),
})

const LIMITS = defineResource<ApiKey>()(
  'ApiKeyLimits',
  "The own rate limits of an API key. Where one is null, the gateway's limit applies.",
  { chatPerMinute: nullable(CHAT_PER_MINUTE), uploadPerMinute: nullable(UPLOAD_PER_MINUTE) },
)

export const RATE_LIMITS = defineResource<KeyRateLimits>()(
  'RateLimits',
  "The rate limits that apply to an API key, per minute: its own, or else the gateway's.",
  { chatPerMinute: CHAT_PER_MINUTE, uploadPerMinute: UPLOAD_PER_MINUTE },
)

const USAGE = defineResource<ApiKey, Seen>()(
  'ApiKeyUsage',
  'The call counters of an API key. Days and months are those of UTC.',
  {
    totalCalls: computed(
      large('The calls since the key was created or this counter was reset.', 0),
      ['totalCalls', 'totalBaseline'],
      totalCalls,
    ),
    callsToday: computed(
      large('The calls since midnight UTC.', 0),
      ['dayCalls', 'dayStart', 'dayBaseline', 'dayResetStart'],
      (key, { now }) => callsToday(key, now),
    ),
    callsThisMonth: computed(
      large('The calls since the first of the month, UTC.', 0),
      ['monthCalls', 'monthStart', 'monthBaseline', 'monthResetStart'],
      (key, { now }) => callsThisMonth(key, now),
    ),
    lastUsedAt: LAST_USED_AT,
  },
)

const EXAMPLE = {
  id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
  name: 'support bot',
  description: 'Answers on the help page.',
  key_prefix: 'tl_0fQ7sXbV2',
  created_at: '2026-11-20T08:30:00.000Z',
  expires_at: '2027-11-20T08:30:00.000Z',
  revoked_at: null,
  last_used_at: '2026-11-21T09:02:00.000Z',
  rotated_at: null,
  secrets: [{ key_prefix: 'tl_0fQ7sXbV2', last_used_at: '2026-11-21T09:02:00.000Z', ends_at: null }],
  permissions: ['chat' as const],
  is_active: true,
  state: 'active' as const,
  paused_at: null,
  created_by: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
  owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
  allowed_agents: ['fastgpt', 'dify/helpdesk'],
  allowed_addresses: ['192.0.2.0/24'],
  limits: { chat_per_minute: 20, upload_per_minute: null },
  usage: {
    total_calls: 812,
    calls_today: 31,
    calls_this_month: 406,
    last_used_at: '2026-11-21T09:02:00.000Z',
  },
}

export const API_KEY = defineResource<ApiKey, Seen>()(
  'ApiKey',
  'The record of an API key, without the key itself, which only its creation shows.',
  {
    id: id('The id of the key record, which is not the key itself.'),
    name: text('A label for the key, such as `support bot`.'),
    description: text('What the key is for.'),
    keyPrefix: computed(
      text('The first 12 characters of the present secret of the key, by which people can recognise it.'),
      ['prefix'],
      ({ prefix }) => prefix,
    ),
    createdAt: time('When the key was created.'),
    expiresAt: time('When the key expires.'),
    revokedAt: nullable(time('When the key was revoked; null if it was not.')),
    lastUsedAt: LAST_USED_AT,
    rotatedAt: nullable(time('When the present secret was made; null if it is the first one.')),
    secrets: computed(
      objects(
        SECRET,
        'The secrets with which the key can be used: the present one, and, for the overlap after a rotation, the one before.',
      ),
      [
        'prefix',
        'rotatedAt',
        'secretUsedAt',
        'lastUsedAt',
        'previousPrefix',
        'previousEndsAt',
        'previousUsedAt',
      ],
      (key, { now }) => secretsOf(key, now),
    ),
    permissions: computed(
      wordList(PERMISSION, 'What the key may be used for.'),
      ['permissions'],
      permissionsOf,
    ),
    isActive: computed(
      flag('Whether the key can be used: false while it is paused, and once it is revoked or has expired.'),
      ['revokedAt', 'expiresAt', 'pausedAt'],
      (key, { now }) => stateOf(key, now) === 'active',
    ),
    state: computed(
      words(API_KEY_STATE, 'Whether the key can be used, and why not.'),
      ['revokedAt', 'expiresAt', 'pausedAt'],
      (key, { now }) => stateOf(key, now),
    ),
    pausedAt: nullable(time('When the key was paused; null if it is not.')),
    createdBy: computed(
      user(
        'The id of the user who created the key.',
        'The user who created the key; null if it is not yours to see.',
      ),
      ['createdById'],
      ({ createdById }) => createdById,
    ),
    ownerId: user(
      'The id of the user whom the key belongs to and whose quota its calls count towards.',
      'The user whom the key belongs to; null if it is not yours to see.',
    ),
    allowedAgents: computed(
      nullable(
        texts(
          'The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents.',
        ),
      ),
      ['allowedAgents'],
      allowedAgentsOf,
    ),
    allowedAddresses: computed(
      nullable(
        texts(
          'The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses.',
        ),
      ),
      ['allowedAddresses'],
      ({ allowedAddresses }) => (allowedAddresses.length > 0 ? allowedAddresses : null),
    ),
    limits: part(
      LIMITS,
      "The key's own rate limits. Where one is null, the gateway's limit applies. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration.",
    ),
    usage: part(USAGE, "The key's call counters."),
  },
  EXAMPLE,
)

/** A new key together with the key itself, which no other response contains. */
export const CREATED_API_KEY = defineResource<ApiKey & { readonly fullKey: string }, Seen>()(
  'CreatedApiKey',
  'The record of a new API key together with the key itself.',
  {
    ...API_KEY.fields,
    fullKey: text('The API key itself. It is shown only in this response, so store it now.'),
  },
  { ...EXAMPLE, full_key: 'tl_0000000000000000000000000000000000000000000000000' },
)

interface Allowance {
  readonly rateLimits: KeyRateLimits
  readonly quota: Quota
}

export const CURRENT_API_KEY = defineResource<ApiKey & Allowance, Seen>()(
  'CurrentApiKey',
  'The record of the API key of the request, with its rate limits and what is left of its quota.',
  {
    ...API_KEY.fields,
    rateLimits: object(
      RATE_LIMITS,
      'The rate limits that apply to this key, converted to a minute where the gateway counts in windows of another length.',
    ),
    quota: object(QUOTA, 'The quota of the owner, which all its keys share.'),
  },
  {
    ...EXAMPLE,
    rate_limits: { chat_per_minute: 20, upload_per_minute: 30 },
    quota: {
      max_api_calls: 10_000,
      api_calls_count: 812,
      remaining: 9_188,
      quota_period: 'month',
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  },
)

/** A number of days, such as `90d`. */
const DAYS_LENGTH_MAX = 8

/** The keys of one owner. */
export const OWNED_CONDITIONS = {
  search: byText(
    'Only keys with this in their name, prefix or id, or in the username of their owner, if you may see it; without regard to case. Every character stands for itself. A blank text selects all.',
    SEARCH_LENGTH_MAX,
  ),
  state: byWord(
    API_KEY_STATE,
    'Only keys in this state. A key that was revoked is no longer counted as expired when its time comes.',
  ),
  expiresBefore: byTime('Only keys that are active and expire before this time: ISO 8601 with a time zone.'),
  expiresWithin: byText(
    'Only keys that are active and expire within so many days, such as `30d`.',
    DAYS_LENGTH_MAX,
  ),
  unusedFor: byText(
    'Only keys that are active or paused and were neither used nor created within so many days, such as `90d`.',
    DAYS_LENGTH_MAX,
  ),
}

export const API_KEYS = {
  of: API_KEY,
  path: 'api-keys',
  operationId: 'listApiKeys',
  summary: 'List the API keys',
  description:
    'Returns the keys that the caller created or owns, newest first or in the order that it asks for. Administrators get the keys of all users.',
  conditions: {
    ...OWNED_CONDITIONS,
    ownerId: byUser('Only the keys that belong to the user with this id.'),
  } satisfies ConditionsOf<KeyFilter>,
  orders: ordersOf(
    'ApiKeyOrder',
    KEY_ORDERS,
    'What a list of API keys can be ordered by.',
    {
      created_at: 'The time of creation.',
      name: 'The name, without regard to case.',
      last_used_at: 'The time of the last use.',
      expires_at: 'The time of expiry.',
      calls_today: 'The calls of this day, UTC.',
      calls_this_month: 'The calls of this month, UTC.',
      total_calls: 'The calls since the last reset.',
    },
    {
      orderBy:
        'What the keys are ordered by, and among equal ones by their ids. Keys that were never used come last.',
      order:
        'The direction. By default, names and expiries ascend, and times of creation and use and numbers of calls descend.',
    },
  ),
}
