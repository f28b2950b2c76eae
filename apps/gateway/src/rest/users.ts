import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { USER_ORDERS } from '#core/accounts/users/user-filter.ts'
import { checkUser } from '#core/accounts/users/user-input.ts'
import {
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  USER_STATUSES,
  USERNAME_INPUT_CHARACTERS_MAX,
} from '#core/accounts/users/user-rules.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import { ROLES } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { User } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { LIST_DESCRIPTIONS } from '#http/descriptions/list-descriptions.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
import { callerOf, MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { bodySchema, recordFields } from '#http/request/body-schema.ts'
import { judgeList } from '#http/request/judge-page.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import {
  envelope,
  oneOf,
  orderedPageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
} from '#http/response/schemas.ts'
import {
  FullUserSchema,
  fullUserRecord,
  MaxApiCalls,
  QuotaPeriodSchema,
  RoleSchema,
  StatusSchema,
} from '#records/user-record.ts'

export function userRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'users' | 'authentication' | 'reads'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const { users } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = managerOnly(services)
  const reads = smallRead(services)
  const answer = (user: User) => success(fullUserRecord(user, now()))
  for (const schema of COMPONENTS) app.addSchema(schema)

  const creating = { schema: createSchema, onRequest, config: { judge: judgeUser } }
  routes.post('/api/v1/users', creating, async (request, reply) => {
    const { username, password, role, max_api_calls, quota_period } = request.body
    const input = { username, password, role, maxApiCalls: max_api_calls, quotaPeriod: quota_period }
    return answer(await users.create(callerOf(request), input, showLimit(reply)))
  })

  const listing = { schema: listSchema, onRequest, config: { judge: judgeList(USER_ORDERS) }, ...reads }
  routes.get('/api/v1/users', listing, async (request, reply) => {
    const { limit, cursor, search, state, order_by: orderBy, order } = request.query
    const { role, quota_percent_min: quotaPercentMin } = request.query
    const signal = abortedWith(reply)
    const page = await readOrderedPage({ limit, cursor }, (position) =>
      users.list(
        callerOf(request),
        { ...position, orderBy, order, signal },
        { search, state, role, quotaPercentMin },
      ),
    )
    return success(pageRecord(page, (user) => fullUserRecord(user, now())))
  })

  routes.get('/api/v1/users/me', { schema: meSchema, onRequest, ...reads }, async (request) =>
    answer(await users.me(callerOf(request))),
  )

  routes.put('/api/v1/users/me/password', { schema: ownPasswordSchema, onRequest }, async (request) => {
    const { current_password: currentPassword, new_password: newPassword } = request.body
    return answer(await users.changeOwnPassword(callerOf(request), { currentPassword, newPassword }))
  })

  routes.get('/api/v1/users/:id', { schema: getSchema, onRequest, ...reads }, async (request) =>
    answer(await users.find(callerOf(request), request.params.id)),
  )

  routes.patch('/api/v1/users/:id', { schema: updateSchema, onRequest }, async (request, reply) => {
    const { role, status, max_api_calls, quota_period } = request.body
    const change = { role, status, maxApiCalls: max_api_calls, quotaPeriod: quota_period }
    return answer(await users.update(callerOf(request), request.params.id, change, showLimit(reply)))
  })

  routes.put('/api/v1/users/:id/password', { schema: passwordSchema, onRequest }, async (request) => {
    const { password } = request.body
    return answer(await users.setPassword(callerOf(request), request.params.id, password))
  })
}

/** The rules for users that the schemas cannot express. */
function judgeUser(_request: unknown, { body }: SoundRequest): void {
  const { username } = (body ?? {}) as Partial<Static<typeof CreateUserSchema>>
  checkUser(omitUndefined({ username }))
}

const PasswordSchema = Type.String({
  minLength: PASSWORD_CHARACTERS_MIN,
  maxLength: PASSWORD_CHARACTERS_MAX,
  description: 'The new password.',
})

const CreateUserSchema = bodySchema(
  {
    username: Type.String({
      maxLength: USERNAME_INPUT_CHARACTERS_MAX,
      description: USER_DESCRIPTIONS.newUsername,
    }),
    password: PasswordSchema,
    role: Type.Optional({ ...RoleSchema, default: 'user' }),
    max_api_calls: Type.Optional({
      ...MaxApiCalls,
      description: `${MaxApiCalls.description} The default is the gateway's \`users.maxApiCalls\`.`,
    }),
    quota_period: Type.Optional(QuotaPeriodSchema),
  },
  {
    $id: 'CreateUser',
    description: USER_DESCRIPTIONS.newUser,
    examples: [{ username: 'alice', password: 'correct horse battery staple', role: 'premium' }],
    otherFields: recordFields(FullUserSchema, 'cannot be set.', {
      status: 'cannot be set; a new user is active, and `PATCH /api/v1/users/{id}` changes it.',
    }),
  },
)

const UpdateUserSchema = bodySchema(
  {
    role: Type.Optional(RoleSchema),
    status: Type.Optional(StatusSchema),
    max_api_calls: Type.Optional(MaxApiCalls),
    quota_period: Type.Optional(QuotaPeriodSchema),
  },
  {
    $id: 'UpdateUser',
    description: API_KEY_DESCRIPTIONS.changes,
    examples: [{ status: 'suspended' }],
    otherFields: recordFields(FullUserSchema, 'cannot be changed.', {
      password: 'cannot be changed here; send it to `PUT /api/v1/users/{id}/password`.',
    }),
  },
)

const SetPasswordSchema = bodySchema(
  { password: PasswordSchema },
  {
    $id: 'SetPassword',
    description: 'A new password for a user.',
    examples: [{ password: 'correct horse battery staple' }],
  },
)

const ChangePasswordSchema = bodySchema(
  {
    current_password: Type.String({
      minLength: 1,
      maxLength: PASSWORD_CHARACTERS_MAX,
      description: USER_DESCRIPTIONS.currentPassword,
    }),
    new_password: PasswordSchema,
  },
  {
    $id: 'ChangePassword',
    description: USER_DESCRIPTIONS.passwords,
    examples: [{ current_password: 'the old password', new_password: 'correct horse battery staple' }],
  },
)

const COMPONENTS = [
  FullUserSchema,
  CreateUserSchema,
  UpdateUserSchema,
  SetPasswordSchema,
  ChangePasswordSchema,
]

const common = { tags: ['users'], security: [{ accessToken: [] }, { apiKey: [] }] }
const params = Type.Object({ id: Type.String({ description: USER_DESCRIPTIONS.id }) })
const user = envelope(ref(FullUserSchema))

const createSchema = {
  ...common,
  operationId: 'createUser',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Create a user',
  description: 'Creates a user. Only administrators may call this operation.',
  body: ref(CreateUserSchema),
  response: {
    200: user,
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'username_taken'),
  },
}

const listSchema = {
  ...common,
  operationId: 'listUsers',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the users',
  description:
    'Returns the users, newest first or in the order that the caller asks for. Only administrators may call this operation.',
  querystring: orderedPageQuery({
    search: LIST_DESCRIPTIONS.searchUsers,
    states: [USER_STATUSES, LIST_DESCRIPTIONS.userState],
    filters: {
      role: Type.Optional(oneOf(ROLES, LIST_DESCRIPTIONS.userRole)),
      quota_percent_min: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 100, description: LIST_DESCRIPTIONS.quotaPercentMin }),
      ),
    },
    fields: [USER_ORDERS, LIST_DESCRIPTIONS.userOrder, LIST_DESCRIPTIONS.userDirection],
  }),
  response: {
    200: envelope(page(ref(FullUserSchema))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'role_denied'),
  },
}

const meSchema = {
  ...common,
  operationId: 'getMe',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read your own user',
  description: 'Returns the user that the credential belongs to; for an API key, that is its owner.',
  response: { 200: user, ...problems('invalid_request', ...MANAGER_PROBLEMS) },
}

const ownPasswordSchema = {
  ...common,
  operationId: 'changeOwnPassword',
  summary: 'Change your own password',
  description:
    'Replaces the password of the caller and revokes all access tokens of the user, including the one that the request is sent with.',
  body: ref(ChangePasswordSchema),
  response: { 200: user, ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS) },
}

const getSchema = {
  ...common,
  operationId: 'getUser',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read a user',
  description: 'Returns one user. Only administrators may call this operation.',
  params,
  response: {
    200: user,
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'role_denied', 'user_not_found'),
  },
}

const updateSchema = {
  ...common,
  operationId: 'updateUser',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Change a user',
  description:
    'Changes the role, the status or the quota of a user. Suspending a user revokes all its access tokens, refuses its API keys and ends their running chats and uploads within a second. Only administrators may call this operation.',
  params,
  body: ref(UpdateUserSchema),
  response: {
    200: user,
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'user_not_found', 'last_admin'),
  },
}

const passwordSchema = {
  ...common,
  operationId: 'setPassword',
  summary: 'Set the password of a user',
  description:
    'Replaces the password of a user and revokes all its access tokens. Only administrators may call this operation.',
  params,
  body: ref(SetPasswordSchema),
  response: {
    200: user,
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'user_not_found'),
  },
}
