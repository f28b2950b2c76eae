import type { AgentDirectory } from './agents/directory.ts'
import type { Authentication } from './auth/authenticate.ts'
import type { Login } from './auth/login.ts'
import type { Tokens } from './auth/tokens.ts'
import type { ChatService } from './chat/service.ts'
import type { Keys } from './keys/keys.ts'
import type { Limits } from './limits/limits.ts'
import type { Usage } from './usage/usage.ts'
import type { Users } from './users/users.ts'

/** What the faces may call. Every method that acts for somebody takes the `Principal` first. */
export interface Services {
  readonly login: Login
  readonly tokens: Tokens
  readonly authentication: Authentication
  readonly users: Users
  readonly keys: Keys
  readonly limits: Limits
  readonly agents: AgentDirectory
  readonly chat: ChatService
  readonly usage: Usage
}
