import type { Authentication } from '#core/auth/authenticate.ts'
import type { Login } from '#core/auth/login.ts'
import type { Tokens } from '#core/auth/tokens.ts'
import type { ChatService } from '#core/chat/service.ts'
import type { Keys } from '#core/keys/keys.ts'
import type { Limits } from '#core/limits/limits.ts'
import type { Usage } from '#core/usage/usage.ts'
import type { Users } from '#core/users/users.ts'
import type { AgentListing } from './agent-listing.ts'

/** What the faces may call. Every method that acts for somebody takes the `Principal` first. */
export interface Services {
  readonly login: Login
  readonly tokens: Tokens
  readonly authentication: Authentication
  readonly users: Users
  readonly keys: Keys
  readonly limits: Limits
  readonly agents: AgentListing
  readonly chat: ChatService
  readonly usage: Usage
}
