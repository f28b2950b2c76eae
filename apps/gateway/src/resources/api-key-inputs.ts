import { ALLOWED_AGENTS_MAX, DESCRIPTION_LENGTH_MAX, NAME_LENGTH_MAX } from '#core/accounts/keys/key-input.ts'
import { recordFields } from '#http/request/body-schema.ts'
import { API_KEY, API_KEY_COUNTER, PERMISSION } from './api-key.ts'
import {
  defineInput,
  givenId,
  givenInteger,
  givenObject,
  givenText,
  givenTexts,
  givenTime,
  givenWord,
  givenWords,
  orNull,
  required,
} from './define-input.ts'

const LIMITS = defineInput(
  'ApiKeyLimits',
  'The own rate limits of an API key. Only administrators may set one above that of the gateway, up to `limits.maxPerKey` of the configuration. Null removes a limit; one that is absent keeps its value.',
  {
    chatPerMinute: orNull(
      givenInteger('The chats that the key may start in a minute; null removes this limit.'),
    ),
    uploadPerMinute: orNull(
      givenInteger('The uploads that the key may make in a minute; null removes this limit.'),
    ),
  },
)

const NAME = givenText('A label for the key, such as `support bot`, at most 100 characters.', {
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
})
const DESCRIPTION = givenText('What the key is for, at most 500 characters; may be empty.', {
  maxLength: DESCRIPTION_LENGTH_MAX,
})
const EXPIRY =
  'When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`).'

const RESTRICTIONS = {
  allowedAgents: orNull(givenTexts(API_KEY.fields.allowedAgents.description, ALLOWED_AGENTS_MAX)),
  limits: orNull(
    givenObject(
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
    expiresAt: required(givenTime(EXPIRY)),
    permissions: required(
      givenWords(
        PERMISSION,
        'What the key may be used for, at least one. Only administrators may grant `admin`.',
      ),
    ),
    ownerId: givenId(
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
    expiresAt: givenTime(
      `${EXPIRY} A key that has expired becomes active again by it, if its owner may have another active key; a revoked one stays revoked.`,
    ),
    ...RESTRICTIONS,
  },
  {
    example: { limits: { chat_per_minute: 20 } },
    otherFields: recordFields(API_KEY.schema, 'cannot be changed.', {
      is_active: 'cannot be changed; `POST /api/v1/api-keys/{id}/revoke` ends a key for good.',
    }),
  },
)

export const RESET_USAGE = defineInput(
  'ResetUsageRequest',
  'Which counter to reset.',
  { period: required(givenWord(API_KEY_COUNTER, 'Which counter starts again from zero.')) },
  { example: { period: 'day' } },
)
