import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { closeRequests } from '#http/guards/closed-requests.ts'
import { installJsonBody } from '#http/request/json-body.ts'
import { installValidation } from '#http/request/validation.ts'
import { forbidStoring } from '#http/response/no-store.ts'
import { installProblems } from '#http/response/problem.ts'
import { ErrorBodySchema } from '#http/response/schemas.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { jwksRoutes } from './jwks.ts'
import { loginRoutes } from './login.ts'
import { userRoutes } from './users.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A server with the routes of users and keys, and the hooks that the real server installs around them. */
export interface UsersApp extends UserServices {
  readonly app: FastifyInstance
  /** Sends a request with a credential, or with a new access token of the given caller. */
  call(
    as: Principal | string | undefined,
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<LightMyRequestResponse>
}

export async function openUsersApp(): Promise<UsersApp> {
  const services = await openUserServices()
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  installProblems(app)
  forbidStoring(app)
  installJsonBody(app)
  installValidation(app)
  app.addSchema(ErrorBodySchema)
  closeRequests(app)
  loginRoutes(app, services, services.runtime)
  userRoutes(app, services, services.runtime)
  apiKeyRoutes(app, services, services.runtime)
  jwksRoutes(app, services)
  app.addHook('onClose', () => services.database.close())

  async function tokenOf({ userId: id }: Principal): Promise<string> {
    const user = await services.database.prisma.user.findUniqueOrThrow({ where: { id } })
    return (await services.tokens.issue(user)).accessToken
  }

  return {
    ...services,
    app,
    async call(as, method, path, body) {
      const credential = typeof as === 'object' ? await tokenOf(as) : as
      const authorization = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
      const payload = body === undefined ? {} : { payload: body as object }
      return app.inject({ method, url: path, headers: authorization, ...payload })
    },
  }
}
