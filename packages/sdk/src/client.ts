import { type ApiPromise, apiPromise } from './api-promise.ts'
import { resolveOptions } from './client-options.ts'
import type { FullUser, LoginRequest, LoginResponse } from './generated/wire.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { Agents } from './resources/agents.ts'
import { ApiKeys } from './resources/api-keys.ts'
import { Audit } from './resources/audit.ts'
import { Calls } from './resources/calls.ts'
import { Conversations } from './resources/conversations.ts'
import { EndUsers } from './resources/end-users.ts'
import { Processes } from './resources/processes.ts'
import { Refusals } from './resources/refusals.ts'
import { ServerChat } from './resources/server-chat.ts'
import { Uploads } from './resources/uploads.ts'
import { Usage } from './resources/usage.ts'
import { Users } from './resources/users.ts'
import { AuthenticationError } from './status-errors.ts'
import { GatewayTransport } from './transport/gateway-transport.ts'

/**
 * The client of a gateway. It is the `client` of every other example.
 *
 * @example
 * ```ts
 * import { Trunkline } from '@trunkline/sdk'
 *
 * // TRUNKLINE_URL and TRUNKLINE_API_KEY of the environment say where and who; options of the same meaning replace them.
 * const client = new Trunkline()
 * const reply = await client.chat.create({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })
 * console.log(reply.text)
 * ```
 */
export class Trunkline {
  /** The agents that can be called. */
  readonly agents: Agents
  /** API keys. */
  readonly apiKeys: ApiKeys
  /** Who changed what. */
  readonly audit: Audit
  /** Calls: their list and records, stopping them, and of kept ones resuming them and reading their replies. */
  readonly calls: Calls
  /** Chats with an agent. */
  readonly chat: ServerChat
  /** Conversations with agents. */
  readonly conversations: Conversations
  /** The end users that calls name. */
  readonly endUsers: EndUsers
  /** The processes of the gateway. */
  readonly processes: Processes
  /** What was refused. */
  readonly refusals: Refusals
  /** Files for chats. */
  readonly uploads: Uploads
  /** Sums of what was called. */
  readonly usage: Usage
  /** Users, and the user itself. */
  readonly users: Users
  /**
   * Sends the requests of this client; for extensions such as `withGraphQL`.
   *
   * @internal
   */
  readonly transport: GatewayTransport

  /** Private, because they may hold credentials. */
  readonly #options: ClientOptions

  /** @throws TrunklineError naming the option that is at fault */
  constructor(options: ClientOptions = {}) {
    const { accessToken, getAccessToken } = options
    const resolved = resolveOptions(options, (accessToken ?? getAccessToken) !== undefined)
    const transport = new GatewayTransport(resolved)
    this.#options = options
    this.transport = transport
    this.agents = new Agents(transport)
    this.apiKeys = new ApiKeys(transport)
    this.audit = new Audit(transport)
    this.chat = new ServerChat(transport, resolved)
    this.calls = new Calls(this.chat, transport)
    this.conversations = new Conversations(transport)
    this.endUsers = new EndUsers(transport)
    this.processes = new Processes(transport)
    this.refusals = new Refusals(transport)
    this.uploads = new Uploads(transport)
    this.usage = new Usage(transport)
    this.users = new Users(transport)
  }

  /**
   * Returns a client with other options, where they are given. It shares the access token with this one, also one of a later login,
   * unless it gets a credential or an address of its own.
   *
   * @example
   * ```ts
   * const patient = client.withOptions({ timeoutMs: 0, maxRetries: 5 })
   * console.log((await patient.chat.create({ agent: 'dify', query: 'Hello' })).text)
   * ```
   */
  withOptions(options: ClientOptions): Trunkline {
    const own = ['baseURL', 'apiKey', 'accessToken', 'getAccessToken'].some((name) => name in options)
    const client = new Trunkline({ ...this.#options, ...options })
    if (!own) client.transport.credentials = this.transport.credentials
    return client
  }

  /**
   * Exchanges a username and a password for an access token, which the client keeps and uses from then on. The password is not
   * kept: where the token has expired, calls throw a `TokenExpiredError`, unless the client has `getAccessToken`.
   *
   * @example
   * ```ts
   * const { user, expires_in } = await client.login({ username: 'alice', password: 'a long passphrase' })
   * console.log(user.role, expires_in)
   * ```
   */
  login(body: LoginRequest, options?: CallOptions): ApiPromise<LoginResponse> {
    const spec = {
      method: 'POST',
      path: '/login',
      json: body,
      credential: 'none',
      secrets: [body?.password],
    } as const
    const login = this.transport.data<LoginResponse>(spec, options).withResponse()
    return apiPromise(
      login.then((reply) => {
        this.transport.credentials.keep(reply.data)
        return reply
      }),
    )
  }

  /**
   * Ends the access token and forgets it, also one that is over already.
   *
   * @example
   * ```ts
   * await client.logout()
   * ```
   */
  async logout(options?: CallOptions): Promise<void> {
    try {
      const spec = { method: 'POST', path: '/logout', repeatable: 'unreached' } as const
      // A token that is refused is over, and need not be renewed to end another one.
      const canRepeat = (error: unknown) => !(error instanceof AuthenticationError)
      await this.transport.data({ ...spec, canRepeat }, options)
    } catch (error) {
      // Such a token is over already.
      if (!(error instanceof AuthenticationError)) throw error
    }
    this.transport.credentials.forget()
  }

  /**
   * Reads the user of the credential.
   *
   * @example
   * ```ts
   * const { username, role, api_calls_count, max_api_calls } = await client.me()
   * console.log(username, role, api_calls_count, max_api_calls)
   * ```
   */
  me(options?: CallOptions): ApiPromise<FullUser> {
    return this.users.me(options)
  }
}
