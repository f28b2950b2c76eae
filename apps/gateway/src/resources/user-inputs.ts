import {
  CALLS_MAX,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  USERNAME_INPUT_CHARACTERS_MAX,
} from '#core/accounts/users/user-rules.ts'
import { recordFields } from '#http/request/body-schema.ts'
import { byDefault, defineInput, required, within } from './define/define-input.ts'
import { text, words } from './define/fields.ts'
import { USER, USER_STATUS } from './user.ts'

const { role, quotaPeriod } = USER.fields
const MAX_API_CALLS = within(USER.fields.maxApiCalls, { maximum: CALLS_MAX })
const PASSWORD = required(
  within(text('The new password, 8 to 256 characters.'), {
    minLength: PASSWORD_CHARACTERS_MIN,
    maxLength: PASSWORD_CHARACTERS_MAX,
  }),
)

export const CREATE_USER = defineInput(
  'CreateUser',
  'A new user.',
  {
    username: required(
      within(text('3 to 64 letters, digits and the characters `._-@`; unique without regard to case.'), {
        maxLength: USERNAME_INPUT_CHARACTERS_MAX,
      }),
    ),
    password: PASSWORD,
    role: byDefault(role, 'user'),
    maxApiCalls: {
      ...MAX_API_CALLS,
      description: `${MAX_API_CALLS.description} The default is the gateway's \`users.maxApiCalls\`.`,
    },
    quotaPeriod: byDefault(quotaPeriod, 'none'),
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
    role,
    status: words(
      USER_STATUS,
      'Whether the user may use the gateway. A suspension also ends all its access tokens.',
    ),
    maxApiCalls: MAX_API_CALLS,
    quotaPeriod,
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
      within(text('The password that is valid now.'), { minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX }),
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
      within(text('The username; upper and lower case are the same.'), {
        minLength: 1,
        maxLength: USERNAME_INPUT_CHARACTERS_MAX,
      }),
    ),
    password: required(
      within(text('The password of the user.'), { minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX }),
    ),
  },
  { example: { username: 'admin', password: 'correct horse battery staple' } },
)
