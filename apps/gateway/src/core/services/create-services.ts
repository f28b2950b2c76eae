import type { Agent } from '#core/agents/adapter.ts'
import { createAgentDirectory } from '#core/agents/directory.ts'
import { createAuthentication } from '#core/auth/authenticate.ts'
import { createLogin } from '#core/auth/login.ts'
import type { Tokens } from '#core/auth/tokens.ts'
import { type ChatBounds, type ChatDeps, createChatService } from '#core/chat/service.ts'
import type { Database } from '#core/database/database.ts'
import type { KeyRules } from '#core/keys/key-input.ts'
import { createKeyLimitsReader } from '#core/keys/key-limits.ts'
import { createKeys } from '#core/keys/keys.ts'
import type { LimitRules, Limits } from '#core/limits/limits.ts'
import { createAdmission } from '#core/usage/admission.ts'
import type { Ledger } from '#core/usage/ledger.ts'
import { createUsageService, type UsageDeps } from '#core/usage/usage.ts'
import { createPasswords } from '#core/users/passwords.ts'
import { createUsers, type UsersDeps } from '#core/users/users.ts'
import { createAgentListing } from './agent-listing.ts'
import type { Operations, Services } from './services.ts'

type ChatParts = Pick<ChatDeps, 'upstream' | 'derivedIds' | 'conversations' | 'runtime' | 'observer'>

export interface ServicesDeps extends ChatParts {
  readonly config: ServicesConfig
  readonly database: Database
  readonly agents: ReadonlyMap<string, Agent>
  /** The ids of agents that keys and reports may name; a superset of {@link ServicesDeps.agents}. */
  readonly agentIds: ReadonlySet<string>
  readonly limits: Limits
  readonly tokens: Tokens
  readonly ledger: Ledger
}

export interface ServicesConfig {
  readonly limits: LimitRules & Partial<Pick<ChatBounds, 'streamsPerKey'>>
  readonly chat: Omit<ChatBounds, 'streamsPerKey'>
  readonly conversations: { readonly maxCharacters: number }
  readonly users: UsersDeps['config']
  readonly usage: UsageDeps['config']
  /** Whether callers without a credential may list the agents. */
  readonly publicAgentListing: boolean
  readonly apiKeys: Omit<KeyRules, 'agentIds' | 'limits'>
}

/** Creates the services, and separates what callers can reach from what only the process may do. */
export function createServices(deps: ServicesDeps): { services: Services; operations: Operations } {
  const { config, database, runtime, agents, agentIds, limits, tokens, ledger, upstream } = deps
  const { sql, prisma } = database
  const passwords = createPasswords()
  const authentication = createAuthentication({ sql, limits, tokens })
  const chat = createChatService({
    ...deps,
    authenticate: authentication.authenticate,
    admission: createAdmission({ limits, keyLimits: createKeyLimitsReader({ sql, runtime }), ledger }),
    keptCharactersMax: config.conversations.maxCharacters,
    bounds: { ...config.chat, streamsPerKey: config.limits.streamsPerKey },
  })
  const { usersExist, createFirstAdmin, ...users } = createUsers({
    ...{ prisma, runtime, limits, passwords },
    config: config.users,
  })
  const { verify, prune, pruneNames, ...usage } = createUsageService({
    ...{ database, runtime, limits, agentIds },
    config: config.usage,
  })
  const rules = { agentIds, limits: config.limits, ...config.apiKeys }
  return {
    services: {
      login: createLogin({ prisma, runtime, limits, passwords, tokens }),
      tokens: { jwks: tokens.jwks },
      authentication,
      users,
      keys: createKeys({ prisma, runtime, rules }),
      agents: createAgentListing({
        directory: createAgentDirectory({ agents, upstream, runtime }),
        limits,
        isPublic: config.publicAgentListing,
      }),
      chat: { start: chat.start },
      usage,
    },
    operations: {
      firstStart: { usersExist, createFirstAdmin },
      chat,
      usage: { verify, prune, pruneNames },
    },
  }
}
