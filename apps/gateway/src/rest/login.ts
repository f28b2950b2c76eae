import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Runtime } from '#core/base/runtime.ts'
import type { Services } from '#core/services/services.ts'
import { LOGIN_DESCRIPTIONS } from '#http/descriptions/login-descriptions.ts'
import { callerOf, originOf, TOKEN_PROBLEMS, tokenOnly } from '#http/guards/credentials.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { envelope, problems, ref, success } from '#http/response/schemas.ts'
import { LOGIN_USER } from '#resources/user.ts'
import { LOGIN } from '#resources/user-inputs.ts'

export function loginRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'login' | 'authentication'>,
  { now }: Pick<Runtime, 'now'>,
): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  for (const schema of [LOGIN_USER.schema, LOGIN.schema, LoginResponseSchema]) app.addSchema(schema)

  // The interface defines both paths for the same operations.
  for (const [path, schemas] of [
    ['/api/v1', { login: loginSchema('login'), logout: logoutSchema('logout') }],
    ['/api/v1/auth', { login: loginSchema('authLogin'), logout: logoutSchema('authLogout') }],
  ] as const) {
    routes.post(`${path}/login`, { schema: schemas.login }, async (request) => {
      const { accessToken, expiresIn, user } = await services.login.login(
        LOGIN.read(request.body),
        originOf(request),
      )
      return success({
        access_token: accessToken,
        token_type: 'bearer' as const,
        expires_in: expiresIn,
        user: LOGIN_USER.record(user, { now: now() }),
      })
    })

    const onRequest = tokenOnly(services)
    routes.post(`${path}/logout`, { schema: schemas.logout, onRequest }, async (request) => {
      await services.login.logout(callerOf(request))
      return success({})
    })
  }
}

const LoginResponseSchema = Type.Object(
  {
    access_token: Type.String({
      description: 'A JWT. Send it in the header `Authorization: Bearer <access_token>`.',
      examples: ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTlhOWYzZSJ9.c2lnbmF0dXJl'],
    }),
    token_type: Type.Literal('bearer', { description: LOGIN_DESCRIPTIONS.tokenType }),
    expires_in: Type.Integer({ description: LOGIN_DESCRIPTIONS.expiresIn, examples: [3600] }),
    user: ref(LOGIN_USER.schema),
  },
  { $id: 'LoginResponse', description: LOGIN_DESCRIPTIONS.result },
)

function loginSchema(operationId: string) {
  return {
    tags: ['login'],
    operationId,
    summary: 'Log in',
    description:
      'Exchanges a username and a password for an access token. `/api/v1/login` and `/api/v1/auth/login` are the same operation.',
    security: [],
    body: ref(LOGIN.schema),
    response: {
      200: envelope(ref(LoginResponseSchema)),
      ...problems(...BODY_PROBLEMS, 'login_failed', 'rate_limited', 'unavailable'),
    },
  }
}

function logoutSchema(operationId: string) {
  return {
    tags: ['login'],
    operationId,
    summary: 'Log out',
    description:
      'Revokes the access token that the request is sent with. `/api/v1/logout` and `/api/v1/auth/logout` are the same operation.',
    security: [{ accessToken: [] }],
    response: { 200: envelope(Type.Object({})), ...problems(...BODY_PROBLEMS, ...TOKEN_PROBLEMS) },
  }
}
