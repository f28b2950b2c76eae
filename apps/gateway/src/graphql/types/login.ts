import type { AccessToken } from '#core/accounts/auth/tokens.ts'
import type { User as UserRow } from '#generated/prisma/client.ts'
import { LOGIN_DESCRIPTIONS } from '#http/descriptions/login-descriptions.ts'
import { originOf } from '#http/guards/credentials.ts'
import { LOGIN } from '#resources/user-inputs.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { givenIn, inputType } from '../resources/input-type.ts'
import { JUDGES_CREDENTIALS } from '../serving/authentication-plugin.ts'
import { User } from './user.ts'

const LoginInput = inputType('LoginInput', LOGIN.description, LOGIN.fields)

const LoginPayload = builder.objectRef<AccessToken & { user: UserRow }>('LoginPayload').implement({
  description: LOGIN_DESCRIPTIONS.result,
  fields: (t) => ({
    accessToken: t.exposeString('accessToken', {
      description: 'A JWT. Send it in the header `Authorization: Bearer <accessToken>`.',
    }),
    tokenType: t.string({ description: LOGIN_DESCRIPTIONS.tokenType, resolve: () => 'bearer' }),
    expiresIn: t.exposeInt('expiresIn', { description: LOGIN_DESCRIPTIONS.expiresIn }),
    user: t.expose('user', { type: User, description: 'The user that has logged in.' }),
  }),
})

const LogoutPayload = builder.objectRef<{ ok: true }>('LogoutPayload').implement({
  description: 'What `logout` has done.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', {
      description: 'Always true: if the access token could not be ended, `logout` fails with an error.',
    }),
  }),
})

builder.mutationFields((t) => ({
  login: t.field({
    type: LoginPayload,
    nullable: true,
    description: 'Exchanges a username and a password for an access token. Needs no credential.',
    args: { input: t.arg({ type: LoginInput, required: true, description: 'Who logs in.' }) },
    extensions: JUDGES_CREDENTIALS,
    resolve: async (_root, { input }, { services, http, loggedIn }) => {
      const login = await services.login.login(givenIn(LOGIN, input), originOf(http))
      loggedIn.add(login.user.id)
      return login
    },
  }),
  logout: t.field({
    type: LogoutPayload,
    nullable: true,
    description: 'Ends the access token of the request. Takes an access token.',
    resolve: async (_root, _args, context) => {
      await context.services.login.logout(callerOf(context))
      return { ok: true } as const
    },
  }),
}))
