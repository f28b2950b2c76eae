import type { User as UserRow } from '#generated/prisma/client.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { QUOTA_PERIOD, ROLE, USER_STATUS } from '#resources/user.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { User } from './user.ts'

const [QuotaPeriod, Role, UserStatus] = [
  vocabularyEnum(QUOTA_PERIOD),
  vocabularyEnum(ROLE),
  vocabularyEnum(USER_STATUS),
]

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: USER_DESCRIPTIONS.newUser,
  fields: (t) => ({
    username: t.string({
      required: true,
      description: USER_DESCRIPTIONS.newUsername,
    }),
    password: t.string({ required: true, description: 'The password, 8 to 256 characters.' }),
    role: t.field({ type: Role, defaultValue: 'user', description: 'What the user may do.' }),
    maxApiCalls: t.field({
      type: 'SafeInt',
      description: `${USER_DESCRIPTIONS.maxApiCalls} The default is the gateway's \`users.maxApiCalls\`.`,
    }),
    quotaPeriod: t.field({
      type: QuotaPeriod,
      defaultValue: 'none',
      description: 'How often the calls are counted from zero.',
    }),
  }),
})

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'The user and the fields to change. A field that is absent or null keeps its value.',
  fields: (t) => ({
    userId: t.id({ required: true, description: USER_DESCRIPTIONS.id }),
    role: t.field({ type: Role, description: 'What the user may do.' }),
    status: t.field({
      type: UserStatus,
      description: 'Whether the user may use the gateway. `SUSPENDED` also ends all its access tokens.',
    }),
    maxApiCalls: t.field({
      type: 'SafeInt',
      description: USER_DESCRIPTIONS.maxApiCalls,
    }),
    quotaPeriod: t.field({ type: QuotaPeriod, description: 'How often the calls are counted from zero.' }),
  }),
})

const SetPasswordInput = builder.inputType('SetPasswordInput', {
  description: 'The user and its new password.',
  fields: (t) => ({
    userId: t.id({ required: true, description: USER_DESCRIPTIONS.id }),
    password: t.string({ required: true, description: 'The new password, 8 to 256 characters.' }),
  }),
})

const ChangeMyPasswordInput = builder.inputType('ChangeMyPasswordInput', {
  description: USER_DESCRIPTIONS.passwords,
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: USER_DESCRIPTIONS.currentPassword }),
    newPassword: t.string({ required: true, description: 'The new password, 8 to 256 characters.' }),
  }),
})

function userPayload(name: string, { description, user }: { description: string; user: string }) {
  return builder.objectRef<UserRow>(name).implement({
    description,
    fields: (t) => ({ user: t.field({ type: User, description: user, resolve: (row) => row }) }),
  })
}

const CreateUserPayload = userPayload('CreateUserPayload', {
  description: 'What `createUser` has done.',
  user: 'The new user.',
})

const UpdateUserPayload = userPayload('UpdateUserPayload', {
  description: 'What `updateUser` has done.',
  user: 'The user with the changes.',
})

const SetPasswordPayload = userPayload('SetPasswordPayload', {
  description: 'What `setPassword` has done.',
  user: 'The user, whose access tokens have ended.',
})

const ChangeMyPasswordPayload = userPayload('ChangeMyPasswordPayload', {
  description: 'What `changeMyPassword` has done.',
  user: 'The caller, whose access tokens have ended.',
})

builder.mutationFields((t) => ({
  createUser: t.field({
    type: CreateUserPayload,
    nullable: true,
    description:
      'Creates a user. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'The new user.' }) },
    resolve: (_root, { input: { username, password, ...input } }, context) =>
      context.services.users.create(
        callerOf(context),
        { username, password, ...withoutNulls(input) },
        showLimit(context.reply),
      ),
  }),
  updateUser: t.field({
    type: UpdateUserPayload,
    nullable: true,
    description:
      'Changes the role, the status or the quota of a user. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: {
      input: t.arg({
        type: UpdateUserInput,
        required: true,
        description: 'The user and the fields to change.',
      }),
    },
    resolve: (_root, { input: { userId, ...change } }, context) =>
      context.services.users.update(
        callerOf(context),
        userId,
        withoutNulls(change),
        showLimit(context.reply),
      ),
  }),
  setPassword: t.field({
    type: SetPasswordPayload,
    nullable: true,
    description:
      'Replaces the password of a user and ends all its access tokens. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: {
      input: t.arg({
        type: SetPasswordInput,
        required: true,
        description: 'The user and its new password.',
      }),
    },
    resolve: (_root, { input: { userId, password } }, context) =>
      context.services.users.setPassword(callerOf(context), userId, password),
  }),
  changeMyPassword: t.field({
    type: ChangeMyPasswordPayload,
    nullable: true,
    description:
      'Replaces the password of the caller and ends all its access tokens, including the one of this request. Takes an access token, or an API key with the permission `ADMIN`.',
    args: { input: t.arg({ type: ChangeMyPasswordInput, required: true, description: 'Both passwords.' }) },
    resolve: (_root, { input }, context) =>
      context.services.users.changeOwnPassword(callerOf(context), input),
  }),
}))
