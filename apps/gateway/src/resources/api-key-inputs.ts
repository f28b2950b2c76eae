import { ALLOWED_AGENTS_MAX, DESCRIPTION_LENGTH_MAX, NAME_LENGTH_MAX } from '#core/accounts/keys/key-input.ts'
import { OVERLAP_SECONDS_MAX } from '#core/accounts/keys/keys.ts'
import { ALLOWED_ADDRESSES_MAX } from '#core/requests/allowed-addresses.ts'
import { recordFields } from '#http/request/body-schema.ts'
import { API_KEY, API_KEY_COUNTER } from './api-key.ts'
import { defineInput, form, required, within } from './define/define-input.ts'
import { flag, id, integer, nullable, text, time, words } from './define/fields.ts'

const { permissions, allowedAgents, allowedAddresses } = API_KEY.fields

const LIMITS = defineInput(
  'ApiKeyLimits',
  'The own rate limits of an API key. Only administrators may set one above that of the gateway, up to `limits.maxPerKey` of the configuration. Null removes a limit; one that is absent keeps its value.',
  {
    chatPerMinute: nullable(
      integer('The chats that the key may start in a minute; null removes this limit.'),
    ),
    uploadPerMinute: nullable(
      integer('The uploads that the key may make in a minute; null removes this limit.'),
    ),
  },
)

const NAME = within(text('A label for the key, such as `support bot`, at most 100 characters.'), {
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
})
const DESCRIPTION = within(text('What the key is for, at most 500 characters; may be empty.'), {
  maxLength: DESCRIPTION_LENGTH_MAX,
})
const EXPIRY =
  'When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`).'

const RESTRICTIONS = {
  allowedAgents: within(allowedAgents, { maxItems: ALLOWED_AGENTS_MAX }),
  allowedAddresses: within(allowedAddresses, { maxItems: ALLOWED_ADDRESSES_MAX }),
  limits: nullable(
    form(
      LIMITS,
      "The key's own rate limits. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. Null removes them, so that the limits of the gateway apply. Where the gateway counts in windows of another length than a minute, the values are scaled to that length, to at least 1.",
    ),
  ),
}

export const CREATE_API_KEY = defineInput(
  'CreateApiKey',
  'A new API key.',
  {
    name: required(NAME),
    description: required(DESCRIPTION),
    expiresAt: required(time(EXPIRY)),
    permissions: required({
      ...permissions,
      description: 'What the key may be used for, at least one. Only administrators may grant `admin`.',
    }),
    ownerId: id(
      'The id of the user whom the key will belong to; the default is the caller. Only administrators may name another user.',
    ),
    ...RESTRICTIONS,
  },
  {
    example: {
      name: 'support bot',
      description: 'Answers on the help page.',
      expires_at: '2027-01-31T00:00:00Z',
      permissions: ['chat'],
    },
    otherFields: recordFields(API_KEY.schema, 'cannot be set.'),
  },
)

export const UPDATE_API_KEY = defineInput(
  'UpdateApiKey',
  'The fields to change. A field that is absent keeps its value.',
  {
    name: NAME,
    description: DESCRIPTION,
    expiresAt: time(
      `${EXPIRY} A key that has expired becomes active again by it, if its owner may have another active key; a revoked one stays revoked.`,
    ),
    isActive: flag(
      'False pauses the key, and true lifts the pause. Only administrators lift what an administrator has paused.',
    ),
    ...RESTRICTIONS,
  },
  {
    example: { limits: { chat_per_minute: 20 } },
    otherFields: recordFields(API_KEY.schema, 'cannot be changed.'),
  },
)

export const ROTATE_API_KEY = defineInput(
  'RotateApiKey',
  'How an API key gets another secret.',
  {
    overlapSeconds: within(
      integer(
        'How long the secret before the new one can still be used, in seconds; a day by default. It never lasts longer than the key itself. With 0 every earlier secret ends now.',
      ),
      { minimum: 0, maximum: OVERLAP_SECONDS_MAX },
    ),
  },
  { example: { overlap_seconds: 86_400 } },
)

export const RESET_USAGE = defineInput(
  'ResetUsageRequest',
  'Which counter to reset.',
  { period: required(words(API_KEY_COUNTER, 'Which counter starts again from zero.')) },
  { example: { period: 'day' } },
)
