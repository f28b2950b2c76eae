import type { RefusalCount } from '#core/reports/refusals/refusal-counts.ts'
import { COUNT_SPANS } from '#core/reports/refusals/refusal-counts-query.ts'
import type { Refusal } from '#core/reports/refusals/refusals.ts'
import type { RefusalsInput } from '#core/reports/refusals/refusals-query.ts'
import { CALL_FACE } from './call-words.ts'
import {
  byId,
  byName,
  byText,
  byUser,
  byWord,
  type ConditionsOf,
  type ListDefinition,
  type RangeTexts,
  rangeOf,
  type Selection,
} from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import { agent, id, integer, key, large, nullable, text, time, user, words } from './define/fields.ts'
import { closed } from './define/vocabulary.ts'

const KEY = 'The API key; null for an access token, and if it is not yours to see or its record was removed.'
const OWNER = 'The user whom the credential belongs to; null if it is not yours to see.'
const AGENT = agent(
  'The id of the agent; empty if the request named none, and `other` if it named one that is not configured.',
  'The agent; null if none that is configured was named, and if your key may not use it.',
)
const REASON = text('The stable word of the error.')
const LIMIT = text(
  'Which limit refused it, such as `chat`, or which part of the gateway was not available; empty where the reason says it all.',
)
const EXAMPLE = {
  key_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
  owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
  agent: 'fastgpt',
  reason: 'rate_limited',
  limit: 'chat',
} as const

export const REFUSAL = defineResource<Refusal>()(
  'Refusal',
  'A request of a known API key or access token that was refused before it was a call. It is kept for a day, and only the first ones of each reason, credential and hour are.',
  {
    id: id('The id of the refusal.'),
    requestId: text('The id of the request (`X-Request-Id`).'),
    at: time('When it was refused.'),
    keyId: nullable(key('The id of the API key; null for an access token.', KEY)),
    ownerId: user('The id of the user whom the API key or the access token belongs to.', OWNER),
    keyPrefix: text(
      'The first 12 characters of the secret of the key that was presented; empty for an access token.',
    ),
    face: words(CALL_FACE, 'The interface through which the request came.'),
    route: text(
      'The template of the path, such as `/api/v1/users/:id`, or the root field of the GraphQL operation; `/graphql` if that was refused before it ran.',
    ),
    agent: AGENT,
    reason: REASON,
    status: integer('The HTTP status that belongs to the reason.'),
    limit: LIMIT,
    field: nullable(
      text('The input at fault, by the name that its interface has for it; null if it was none.'),
    ),
    limitPoints: nullable(
      integer(
        'How many requests a rate limit allows in its time, on all processes together; null for any other limit.',
      ),
    ),
    limitWindowSeconds: nullable(
      integer('The time of the rate limit, in seconds; null for any other limit.'),
    ),
    limitOf: nullable(
      text('Whose rate limit it is: `key` or `gateway`; null for any other limit.', ['key', 'gateway']),
    ),
  },
  {
    id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
    request_id: 'ticket-1',
    at: '2026-11-20T08:30:00.000Z',
    face: 'rest',
    route: '/api/v1/chat',
    key_prefix: 'tl_0fQ7sXbV2',
    status: 429,
    limit_points: 60,
    limit_window_seconds: 60,
    limit_of: 'key',
    field: null,
    ...EXAMPLE,
  },
)

export const REFUSAL_COUNT = defineResource<RefusalCount>()(
  'RefusalCount',
  'Requests that were refused for one reason in one minute, hour or day. The requests of unknown credentials are counted as well, without a key or an owner, and shown only to administrators. Counts are kept for 30 days.',
  {
    start: time(
      'When the minute, hour or day begins in the requested time zone; for the first one, when the range begins.',
    ),
    keyId: nullable(key('The id of the API key; null for access tokens and unknown credentials.', KEY)),
    ownerId: nullable(
      user(
        'The id of the user whom the API key or the access tokens belong to; null for unknown credentials.',
        OWNER,
      ),
    ),
    agent: AGENT,
    reason: REASON,
    limit: LIMIT,
    count: large('How many requests were refused.', 0),
  },
  { start: '2026-11-20T08:00:00.000Z', ...EXAMPLE, count: 812 },
)

/** Who sees which refusals, with the name of the permission in the face. */
export function visibleRefusals(permission: string): string {
  return `Users see the refusals of their own credentials, administrators all, and an API key without the permission \`${permission}\` only its own. They are recorded without end users, so that a request that a trusted proxy has bound to one is refused.`
}

export const COUNT_CONDITIONS = {
  keyId: byId('Only requests with the API key with this id.'),
  ownerId: byUser('Only requests with the API keys and access tokens of the user with this id.'),
  agent: byName(
    'Only requests for this agent, such as `fastgpt`, which must be configured or have been called before; an empty text stands for requests that named none, and `other` for those that named one that is not configured.',
    32,
  ),
  reason: byText(
    'Only requests that were refused for this reason: a stable word of an error, such as `rate_limited`.',
    64,
  ),
  // `limit` is the size of a page.
  limitName: byText(
    'Only requests that this limit or this part of the gateway refused, such as `chat`.',
    256,
  ),
}

export const COUNT_RANGE: RangeTexts = {
  fromTime: `${rangeOf('requests refused').fromTime} The range begins with the minute that contains it.`,
  toTime:
    'Only requests refused before this time, in the same form as `from`, which must be earlier. The range ends with the minute in which it lies; now by default.',
  timezoneName:
    'The IANA name of the time zone in which days begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default.',
}

export const COUNT_SPAN = closed(
  'RefusalCountSpan',
  COUNT_SPANS,
  'The length of the buckets in which refused requests are counted.',
  {
    minute: 'Minutes. Without `from`, the last hour is counted.',
    hour: 'Hours. Without `from`, the last day is counted.',
    day: 'Days of the time zone. Without `from`, the last 30 days are counted.',
  },
)
export const PER =
  'The length of the buckets. Without `from`, the last hour is counted by the minute, the last day by the hour, or the last 30 days by the day; a range by the minute may be a day long.'

/** What the command line counts by. */
export const REFUSAL_COUNTS = {
  conditions: { ...COUNT_CONDITIONS, per: byWord(COUNT_SPAN, PER) },
  range: COUNT_RANGE,
} satisfies Selection

export const REFUSALS = {
  of: REFUSAL,
  path: 'refusals',
  operationId: 'listRefusals',
  summary: 'List refused requests',
  description: `Returns refused requests of the last day, newest first: the first ones of each reason, credential and hour. ${visibleRefusals('admin')} The CSV format returns all of them at once, without pages.`,
  conditions: {
    ...COUNT_CONDITIONS,
    requestId: byText('Only refusals of the request with this id.', 128),
  } satisfies ConditionsOf<RefusalsInput>,
  range: rangeOf('requests refused'),
} satisfies ListDefinition<Refusal>
