import type { FastifyInstance } from 'fastify'
import { checkOwnPasswords, checkUser } from '#core/accounts/users/user-input.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Services } from '#core/services/services.ts'
import { MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { USER, USERS } from '#resources/user.ts'
import { CHANGE_PASSWORD, CREATE_USER, SET_PASSWORD, UPDATE_USER } from '#resources/user-inputs.ts'
import { orderedListRoute } from './list-route.ts'
import { recordRoutes } from './resources/record-route.ts'

export function userRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'users' | 'authentication' | 'reads'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const { users } = services
  const parts = {
    of: USER,
    tag: 'users',
    onRequest: managerOnly(services),
    guardReasons: MANAGER_PROBLEMS,
    bounds: smallRead(services),
    viewOf: () => ({ now: now() }),
  }
  app.addSchema(USER.schema)
  const serve = recordRoutes(app, parts)
  const check = (_caller: unknown, given: Parameters<typeof checkUser>[0]) => checkUser(given)

  serve('POST', '/api/v1/users', {
    operationId: 'createUser',
    summary: 'Create a user',
    description: 'Creates a user. Only administrators may call this operation.',
    input: CREATE_USER,
    check,
    reasons: ['role_denied', 'username_taken'],
    call: ({ caller, given, onLimit }) => users.create(caller, given, onLimit),
  })

  orderedListRoute(app, USERS, {
    ...parts,
    list: users,
    reasons: ['invalid_request', ...MANAGER_PROBLEMS, 'role_denied'],
  })

  serve('GET', '/api/v1/users/me', {
    operationId: 'getMe',
    summary: 'Read your own user',
    description: 'Returns the user that the credential belongs to; for an API key, that is its owner.',
    call: ({ caller }) => users.me(caller),
  })

  serve('PUT', '/api/v1/users/me/password', {
    operationId: 'changeOwnPassword',
    summary: 'Change your own password',
    description:
      'Replaces the password of the caller and revokes all access tokens of the user, including the one that the request is sent with.',
    input: CHANGE_PASSWORD,
    check: (_caller, given) => checkOwnPasswords(given),
    isUnlimited: true,
    call: ({ caller, given }) => users.changeOwnPassword(caller, given),
  })

  serve('GET', '/api/v1/users/:id', {
    operationId: 'getUser',
    summary: 'Read a user',
    description: 'Returns one user. Only administrators may call this operation.',
    reasons: ['role_denied', 'user_not_found'],
    call: ({ caller, id }) => users.find(caller, id),
  })

  serve('PATCH', '/api/v1/users/:id', {
    operationId: 'updateUser',
    summary: 'Change a user',
    description:
      'Changes the role, the status or the quota of a user. Suspending a user revokes all its access tokens, refuses its API keys and ends their running chats and uploads within a second. Only administrators may call this operation.',
    input: UPDATE_USER,
    check,
    reasons: ['role_denied', 'user_not_found', 'last_admin'],
    call: ({ caller, id, given, onLimit }) => users.update(caller, id, given, onLimit),
  })

  serve('PUT', '/api/v1/users/:id/password', {
    operationId: 'setPassword',
    summary: 'Set the password of a user',
    description:
      'Replaces the password of a user and revokes all its access tokens. Only administrators may call this operation.',
    input: SET_PASSWORD,
    check,
    reasons: ['role_denied', 'user_not_found'],
    isUnlimited: true,
    call: ({ caller, id, given: { password } }) => users.setPassword(caller, id, password),
  })
}
