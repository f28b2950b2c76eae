import {
  CALLS_MAX,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  USERNAME_INPUT_CHARACTERS_MAX,
} from '#core/accounts/users/user-rules.ts'
import { recordFields } from '#http/request/body-schema.ts'
import { byDefault, defineInput, givenLarge, givenText, givenWord, required } from './define-input.ts'
import { QUOTA_PERIOD, ROLE, USER, USER_STATUS } from './user.ts'

const PASSWORD = required(
  givenText('The new password, 8 to 256 characters.', {
    minLength: PASSWORD_CHARACTERS_MIN,
    maxLength: PASSWORD_CHARACTERS_MAX,
  }),
)
const CALLS_RULES = { minimum: 0, maximum: CALLS_MAX }
const { role, maxApiCalls, quotaPeriod } = USER.fields
const GIVEN_ROLE = givenWord(ROLE, role.description)
const GIVEN_PERIOD = givenWord(QUOTA_PERIOD, quotaPeriod.description)

export const CREATE_USER = defineInput(
  'CreateUser',
  'A new user.',
  {
    username: required(
      givenText('3 to 64 letters, digits and the characters `._-@`; unique without regard to case.', {
        maxLength: USERNAME_INPUT_CHARACTERS_MAX,
      }),
    ),
    password: PASSWORD,
    role: byDefault(GIVEN_ROLE, 'user'),
    maxApiCalls: givenLarge(
      `${maxApiCalls.description} The default is the gateway's \`users.maxApiCalls\`.`,
      CALLS_RULES,
    ),
    quotaPeriod: byDefault(GIVEN_PERIOD, 'none'),
  },
  {
    example: { username: 'alice', password: 'correct horse battery staple', role: 'premium' },
    otherFields: recordFields(USER.schema, 'cannot be set.', {
      status: 'cannot be set; a new user is active, and `PATCH /api/v1/users/{id}` changes it.',
    }),
  },
)

export const UPDATE_USER = defineInput(
  'UpdateUser',
  'The fields to change. A field that is absent keeps its value.',
  {
    role: GIVEN_ROLE,
    status: givenWord(
      USER_STATUS,
      'Whether the user may use the gateway. A suspension also ends all its access tokens.',
    ),
    maxApiCalls: givenLarge(maxApiCalls.description, CALLS_RULES),
    quotaPeriod: GIVEN_PERIOD,
  },
  {
    example: { status: 'suspended' },
    otherFields: recordFields(USER.schema, 'cannot be changed.', {
      password: 'cannot be changed here; send it to `PUT /api/v1/users/{id}/password`.',
    }),
  },
)

export const SET_PASSWORD = defineInput(
  'SetPassword',
  'A new password for a user.',
  { password: PASSWORD },
  { example: { password: 'correct horse battery staple' } },
)

export const CHANGE_PASSWORD = defineInput(
  'ChangePassword',
  "The caller's current password and its new one.",
  {
    currentPassword: required(
      givenText('The password that is valid now.', { minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX }),
    ),
    newPassword: PASSWORD,
  },
  { example: { current_password: 'the old password', new_password: 'correct horse battery staple' } },
)

export const LOGIN = defineInput(
  'LoginRequest',
  'The credentials of a user.',
  {
    username: required(
      givenText('The username; upper and lower case are the same.', {
        minLength: 1,
        maxLength: USERNAME_INPUT_CHARACTERS_MAX,
      }),
    ),
    password: required(
      givenText('The password of the user.', { minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX }),
    ),
  },
  { example: { username: 'admin', password: 'correct horse battery staple' } },
)
