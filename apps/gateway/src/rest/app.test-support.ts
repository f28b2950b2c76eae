import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { type Accounts, openAccounts } from '#core/auth/users.test-support.ts'
import type { Principal } from '#core/principal.ts'
import { installJsonBody } from '#http/json-body.ts'
import { installProblems } from '#http/problem.ts'
import { ErrorBodySchema } from '#http/schemas.ts'
import { installValidation } from '#http/validation.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { jwksRoutes } from './jwks.ts'
import { loginRoutes } from './login.ts'
import { userRoutes } from './users.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The account routes alone, with what the server puts around them. */
export interface AccountsApp extends Accounts {
  readonly app: FastifyInstance
  /** Calls a route with a credential, or as a caller by a fresh token of its own. */
  call(
    as: Principal | string | undefined,
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<LightMyRequestResponse>
}

export async function openAccountsApp(): Promise<AccountsApp> {
  const accounts = await openAccounts()
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  installProblems(app)
  installJsonBody(app)
  installValidation(app)
  app.addSchema(ErrorBodySchema)
  loginRoutes(app, accounts, accounts.runtime)
  userRoutes(app, accounts, accounts.runtime)
  apiKeyRoutes(app, accounts, accounts.runtime)
  jwksRoutes(app, accounts)
  app.addHook('onClose', () => accounts.database.close())

  async function tokenOf({ userId: id }: Principal): Promise<string> {
    const user = await accounts.database.prisma.user.findUniqueOrThrow({ where: { id } })
    return (await accounts.tokens.issue(user)).accessToken
  }

  return {
    ...accounts,
    app,
    async call(as, method, path, body) {
      const credential = typeof as === 'object' ? await tokenOf(as) : as
      const authorization = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
      const payload = body === undefined ? {} : { payload: body as object }
      return app.inject({ method, url: path, headers: authorization, ...payload })
    },
  }
}
